// Captured frames on their way from the engine to the process that writes the capture file: a ring in a
// memfd.
//
// The engine publishes whole records only, so that whatever ends the device process, a reader can drain the
// ring and its file is whole. Single writer, single reader.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "device_model/capture/ring_memory.hpp"
#include "device_model/capture/rising_timestamps.hpp"
#include "device_model/memory/descriptor.hpp"
#include "wire/frame.hpp"

namespace urnic::capture {

// Where a frame was seen and what there is to say of it.
struct CaptureMark {
  std::uint16_t interface = 0;  // an index into the capture's interfaces
  std::string_view comment;     // cut off behind kMaxCommentBytes; empty for none
};

// The engine's end. Adds every frame it is handed, with a nanosecond timestamp that rises strictly.
class CaptureWriter {
 public:
  // Makes the ring (`bytes`, a power of two, 8192 or more); throws std::system_error. `patience_ms`: how long
  // the writer waits for a reader that makes no progress before it begins to drop frames.
  explicit CaptureWriter(std::size_t bytes, int patience_ms = 1000);

  // When the reader is slow the writer waits for it, up to a second in all without progress; from then on
  // frames are counted as dropped until there is room again. No system call while the reader is busy and
  // there is room.
  void observe(const wire::Frame& frame, const CaptureMark& mark = {});

  // The ring's memfd, and a socket that becomes readable when a waiting reader should look; for the reader's
  // process. They belong to the writer. (A socket, not an eventfd: whether a write to an eventfd blocks is
  // for everybody who holds it to change, and the engine must not block on a reader's whim.)
  int ring_descriptor() const { return descriptor_.get(); }
  int wake_descriptor() const { return wake_readable_.get(); }
  // From any thread.
  std::uint64_t captured() const { return captured_.load(std::memory_order_relaxed); }
  std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  bool has_room(std::uint64_t bytes) const;
  bool wait_for_room(std::uint64_t bytes);
  void wake_reader();
  void drop();

  memory::Descriptor descriptor_;
  RingMemory ring_;
  memory::Descriptor wake_readable_;
  memory::Descriptor wake_writable_;
  const int patience_ms_;
  std::uint64_t head_ = 0;  // what lies in the ring is for the reader; it is never read back
  RisingTimestamps timestamps_;
  bool reader_is_stuck_ = false;
  std::atomic<std::uint64_t> captured_{0};
  std::atomic<std::uint64_t> dropped_{0};
};

struct CapturedFrame {
  std::uint64_t nanoseconds = 0;  // since the Unix epoch
  std::span<const std::byte>
      bytes;  // in the ring, where a hostile writer may change them: not to be relied on
  std::uint16_t interface = 0;
  std::string_view comment{};
};

// The reader's end, in another process. Everything in the ring is checked before it is used.
class CaptureReader {
 public:
  // The writer's ring_descriptor() and wake_descriptor(), and how many interfaces the capture has. Throws
  // std::system_error or std::runtime_error if they are not what they should be.
  CaptureReader(memory::Descriptor ring, memory::Descriptor wake, std::size_t interfaces = 1);

  // The next frame, if one is there; its bytes lie in the ring and are valid until release(), its comment is
  // valid until the next call. Throws std::runtime_error, at this call and all later ones, if what lies in
  // the ring cannot be records.
  bool next(CapturedFrame& frame);
  // Gives the room of all frames that `next` handed out back to the writer. Without it the ring becomes full.
  void release();
  // From now on `next` hands out only what is in the ring at this moment: an end for a reader that is slower
  // than the traffic.
  void stop_here();
  // Waits until a frame may be there or `milliseconds` passed (-1: for ever); also watches `other` (a socket,
  // or -1) and returns true when that is readable or hung up, or when the writer's process is gone. Frames
  // may be left in the ring then.
  bool wait(int other, int milliseconds);
  // The same, but frames do not end it: a reader that knows there will be some lets them gather, and the
  // engine need not wake it. Nothing is lost: until the ring is full its writer has room.
  bool rest(int other, int milliseconds);
  // Frames that the writer dropped because this reader was slow.
  std::uint64_t dropped() const;

 private:
  [[noreturn]] void refuse(const char* what);

  RingMemory ring_;
  memory::Descriptor wake_;
  const std::size_t interfaces_;
  std::uint64_t tail_ = 0;            // behind what `next` handed out; the ring's own is moved by release()
  std::optional<std::uint64_t> end_;  // the head at stop_here()
  bool damaged_ = false;
  std::array<char, kMaxCommentBytes> comment_{};
};

}  // namespace urnic::capture
