#include <sys/socket.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "device_model/capture/capture_ring.hpp"
#include "device_model/capture/erf_record.hpp"
#include "device_model/capture/reader_patience.hpp"

namespace urnic::capture {

namespace {

std::int64_t nanoseconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

CaptureWriter::CaptureWriter(std::size_t bytes, int patience_ms, std::size_t snapshot_bytes)
    : ring_(RingMemory::create(bytes, descriptor_)),
      patience_ms_(patience_ms),
      snapshot_bytes_(snapshot_bytes) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw std::system_error(errno, std::system_category(), "capture ring: socketpair");
  wake_readable_ = memory::Descriptor(ends[0]);
  wake_writable_ = memory::Descriptor(ends[1]);
}

// The reader writes `tail`: a value outside of what was written gives no room.
bool CaptureWriter::has_room(std::uint64_t bytes) const {
  const std::uint64_t used = head_ - ring_.indices().tail.load(std::memory_order_acquire);
  return used <= ring_.capacity() && bytes <= ring_.capacity() - used;
}

void CaptureWriter::wake_reader() {
  if (ring_.indices().waiting.exchange(0, std::memory_order_seq_cst) == 0) return;
  const std::byte byte{};
  // Fails only when the socket is full, and then the reader is awake.
  (void)send(wake_writable_.get(), &byte, sizeof byte, MSG_DONTWAIT | MSG_NOSIGNAL);
}

// Lost frames make a capture useless, so the engine waits for the reader, but not for one that hangs. The
// reader needs no waking: it does not sleep while there are records.
bool CaptureWriter::wait_for_room(std::uint64_t bytes) {
  constexpr timespec kNap{0, 200'000};
  const std::atomic<std::uint64_t>& tail = ring_.indices().tail;
  ReaderPatience patience(std::int64_t{patience_ms_} * 1'000'000, tail.load(std::memory_order_relaxed),
                          nanoseconds(CLOCK_MONOTONIC));
  while (!has_room(bytes)) {
    if (patience.ends(tail.load(std::memory_order_relaxed), nanoseconds(CLOCK_MONOTONIC))) return false;
    nanosleep(&kNap, nullptr);
  }
  return true;
}

void CaptureWriter::drop() {
  after_gap_ = true;
  const std::uint64_t dropped = dropped_.load(std::memory_order_relaxed) + 1;
  dropped_.store(dropped, std::memory_order_relaxed);
  ring_.indices().dropped.store(dropped, std::memory_order_relaxed);
}

CaptureWriter::Share CaptureWriter::share_of(const wire::Frame& frame) const {
  const std::size_t size = frame.size();
  if (frame.link_layer == wire::LinkLayer::ethernet) {
    const std::size_t kept = std::min(size, snapshot_bytes_);
    return {.kept = kept, .recorded = kept, .original = size};
  }
  const std::size_t kept = std::min(size, erf_snapshot_bytes(snapshot_bytes_));
  return {.kept = kept, .recorded = erf_record_bytes(size, kept), .original = erf_record_bytes(size, size)};
}

void CaptureWriter::record(const wire::Frame& frame, const Share& share, std::uint64_t nanoseconds,
                           std::byte* to) {
  const bool is_erf = frame.link_layer == wire::LinkLayer::infiniband;
  std::byte* next = is_erf ? to + kErfHeaderBytes : to;
  std::size_t left = share.kept;
  for (const auto piece : {frame.headers, frame.payload, frame.trailer}) {
    const std::size_t taken = std::min(piece.size(), left);
    if (taken > 0) std::memcpy(next, piece.data(), taken);
    next += taken;
    left -= taken;
  }
  if (is_erf) complete_erf_record({to, share.recorded}, frame.size(), share.kept, nanoseconds);
}

void CaptureWriter::observe(const wire::Frame& frame, const CaptureMark& mark) {
  const Share share = share_of(frame);
  const std::string_view comment = mark.comment.substr(0, kMaxCommentBytes);
  const std::uint64_t bytes = record_bytes(share.recorded, comment.size());
  if (frame.size() > kMaxFrameBytes || bytes > ring_.capacity()) return drop();
  // Before the wait for the reader: this is when the frame was seen.
  const auto now = static_cast<std::uint64_t>(nanoseconds(CLOCK_REALTIME));
  if (!has_room(bytes)) {
    if (reader_is_stuck_) return drop();
    reader_is_stuck_ = !wait_for_room(bytes);
    if (reader_is_stuck_) return drop();
  }
  reader_is_stuck_ = false;

  const auto interface = static_cast<std::uint16_t>(mark.interface | (after_gap_ ? kAfterGap : 0));
  const RecordHeader header{static_cast<std::uint16_t>(share.recorded),
                            static_cast<std::uint16_t>(share.original),
                            static_cast<std::uint16_t>(comment.size()), interface, timestamps_.next(now)};
  after_gap_ = false;
  std::byte* const to = ring_.at(head_);
  std::memcpy(to, &header, sizeof header);
  record(frame, share, header.nanoseconds, to + sizeof header);
  if (!comment.empty()) std::memcpy(to + sizeof header + share.recorded, comment.data(), comment.size());

  head_ += bytes;
  // Sequentially consistent with the load of `waiting`: either the reader sees this head before it sleeps, or
  // this load sees that it waits.
  ring_.indices().head.store(head_, std::memory_order_seq_cst);
  if (ring_.indices().waiting.load(std::memory_order_seq_cst) != 0) wake_reader();
}

}  // namespace urnic::capture
