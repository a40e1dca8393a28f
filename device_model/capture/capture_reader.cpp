#include <poll.h>
#include <sys/socket.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "device_model/capture/capture_ring.hpp"
#include "terminal/harmless_text.hpp"

namespace urnic::capture {

CaptureReader::CaptureReader(memory::Descriptor ring, memory::Descriptor wake, std::size_t interfaces)
    : ring_(RingMemory::open(ring)), wake_(std::move(wake)), interfaces_(interfaces) {
  tail_ = ring_.indices().tail.load(std::memory_order_relaxed);
}

void CaptureReader::refuse(const char* what) {
  damaged_ = true;
  throw std::runtime_error(std::string("capture ring: ") + what +
                           "; frames up to here are whole, the capture ends");
}

bool CaptureReader::next(CapturedFrame& frame) {
  if (damaged_) refuse("it was found damaged before");
  const std::uint64_t head = end_.value_or(ring_.indices().head.load(std::memory_order_acquire));
  const std::uint64_t there = head - tail_;
  if (there == 0) return false;
  if (there > ring_.capacity()) refuse("its head lies outside of it");

  RecordHeader header;
  std::memcpy(&header, ring_.at(tail_), sizeof header);
  if (header.frame_length > kMaxFrameBytes) refuse("a frame is longer than one can be");
  if (header.length > header.frame_length) refuse("a record is longer than its frame");
  if (header.comment_length > kMaxCommentBytes) refuse("a comment is longer than one can be");
  const auto interface = static_cast<std::uint16_t>(header.interface & ~kAfterGap);
  if (interface >= interfaces_) refuse("a record is of an interface that was not announced");
  const std::uint64_t bytes = record_bytes(header.length, header.comment_length);
  if (bytes > there) refuse("a record goes beyond its head");
  const std::byte* bytes_there = ring_.at(tail_) + sizeof header;
  std::memcpy(comment_.data(), bytes_there + header.length, header.comment_length);
  // Comments are shown on terminals.
  terminal::make_harmless(std::span(comment_).first(header.comment_length), ' ');
  tail_ += bytes;
  frame = {header.nanoseconds,
           {bytes_there, header.length},
           header.frame_length,
           interface,
           {comment_.data(), header.comment_length},
           (header.interface & kAfterGap) != 0};
  return true;
}

void CaptureReader::release() { ring_.indices().tail.store(tail_, std::memory_order_release); }

void CaptureReader::stop_here() { end_ = ring_.indices().head.load(std::memory_order_acquire); }

bool CaptureReader::wait(int other, int milliseconds) {
  RingIndices& indices = ring_.indices();
  indices.waiting.store(1, std::memory_order_seq_cst);
  if (indices.head.load(std::memory_order_seq_cst) != tail_) milliseconds = 0;
  const bool ended = rest(other, milliseconds);
  indices.waiting.store(0, std::memory_order_relaxed);
  return ended;
}

bool CaptureReader::rest(int other, int milliseconds) {
  pollfd entries[2] = {{wake_.get(), POLLIN, 0}, {other, POLLIN, 0}};
  poll(entries, 2, milliseconds);
  bool writer_is_gone = (entries[0].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
  if ((entries[0].revents & POLLIN) != 0) {
    std::byte bytes[64];
    writer_is_gone |= recv(wake_.get(), bytes, sizeof bytes, MSG_DONTWAIT) == 0;
  }
  return writer_is_gone || entries[1].revents != 0;
}

std::uint64_t CaptureReader::dropped() const {
  return ring_.indices().dropped.load(std::memory_order_relaxed);
}

}  // namespace urnic::capture
