#include <poll.h>
#include <sys/socket.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "device_model/capture/capture_ring.hpp"

namespace urnic::capture {

CaptureReader::CaptureReader(memory::Descriptor ring, memory::Descriptor wake)
    : ring_(RingMemory::open(ring)), wake_(std::move(wake)), frame_(kMaxFrameBytes) {
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
  ring_.get(tail_, &header, sizeof header);
  if (header.length > kMaxFrameBytes) refuse("a record is longer than a frame can be");
  const std::uint64_t bytes = record_bytes(header.length);
  if (bytes > there) refuse("a record goes beyond its head");
  ring_.get(tail_ + sizeof header, frame_.data(), header.length);
  tail_ += bytes;
  ring_.indices().tail.store(tail_, std::memory_order_release);
  frame = {header.nanoseconds, {frame_.data(), header.length}};
  return true;
}

void CaptureReader::stop_here() { end_ = ring_.indices().head.load(std::memory_order_acquire); }

bool CaptureReader::wait(int other, int milliseconds) {
  RingIndices& indices = ring_.indices();
  indices.waiting.store(1, std::memory_order_seq_cst);
  if (indices.head.load(std::memory_order_seq_cst) != tail_) milliseconds = 0;
  pollfd entries[2] = {{wake_.get(), POLLIN, 0}, {other, POLLIN, 0}};
  poll(entries, 2, milliseconds);
  indices.waiting.store(0, std::memory_order_relaxed);
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
