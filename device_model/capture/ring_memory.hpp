// Layout of the capture ring in its memfd: one page of indices, then the records.
//
// A record is a RecordHeader, the frame's first bytes (all, unless the capture is cut) and those of its
// comment, padded to 8 bytes; it may wrap around the ring's end. Positions run freely over 64 bits. `head`
// moves by whole records only, so a ring whose writer was killed holds whole records up to it.
//
// The records are mapped twice, one mapping behind the other. So a record that wraps is in one piece too, for
// memcpy and for writev.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "device_model/memory/descriptor.hpp"

namespace urnic::capture {

inline constexpr std::uint64_t kRingMagic = 0x75726E6963706334;  // "urnicpc4"
inline constexpr std::size_t kRingDataOffset = 65536;            // Linux has no larger pages
inline constexpr std::size_t kMinRingBytes = 8192;

// No link carries a longer frame: the longest, a jumbo Ethernet frame, stays below.
inline constexpr std::size_t kMaxFrameBytes = 16384;

// Least length at which a capture may cut frames.
inline constexpr std::size_t kMinSnapshotBytes = 64;

// A comment is one line.
inline constexpr std::size_t kMaxCommentBytes = 256;

// At the beginning. Its first two members are constant.
struct RingIndices {
  std::uint64_t magic;
  std::uint64_t capacity;  // bytes of records, a power of two
  // The writer's cache line.
  alignas(64) std::atomic<std::uint64_t> head;
  std::atomic<std::uint64_t> dropped;
  // The reader's cache line. `waiting` is 1 while the reader wants to be woken.
  alignas(64) std::atomic<std::uint64_t> tail;
  std::atomic<std::uint32_t> waiting;
};
static_assert(sizeof(RingIndices) <= kRingDataOffset);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// In a record's interface: frames were dropped before this one.
inline constexpr std::uint16_t kAfterGap = 0x8000;

struct RecordHeader {
  std::uint16_t length;          // how many bytes of the frame are here
  std::uint16_t frame_length;    // how many it had
  std::uint16_t comment_length;  // 0: there is none
  std::uint16_t interface;  // where the frame was seen: an index into the capture's interfaces; kAfterGap
  std::uint64_t nanoseconds;
};
static_assert(sizeof(RecordHeader) == 16);

// Bytes that a record takes in the ring.
constexpr std::uint64_t record_bytes(std::uint64_t frame_bytes, std::uint64_t comment_bytes = 0) {
  return sizeof(RecordHeader) + ((frame_bytes + comment_bytes + 7) & ~std::uint64_t{7});
}

// A mapping of a ring. The capacity is kept outside of the mapping, which the peer can change.
class RingMemory {
 public:
  // Makes a ring of `bytes`, a power of two of at least kMinRingBytes, sealed against changes of its size;
  // sets `descriptor` to its memfd. All pages are present when this returns, so that the engine meets no page
  // fault. Throws std::system_error.
  static RingMemory create(std::size_t bytes, memory::Descriptor& descriptor);
  // Maps a ring that another process made. Throws std::system_error if that fails, std::runtime_error if it
  // is not a sealed ring.
  static RingMemory open(const memory::Descriptor& descriptor);

  RingMemory(RingMemory&& other) noexcept;
  RingMemory& operator=(RingMemory&&) = delete;
  ~RingMemory();

  RingIndices& indices() const { return *static_cast<RingIndices*>(base_); }
  std::uint64_t capacity() const { return capacity_; }

  // The address of `position`. capacity() bytes follow it in one piece, also around the ring's end.
  std::byte* at(std::uint64_t position) const {
    return static_cast<std::byte*>(base_) + kRingDataOffset + (position & (capacity_ - 1));
  }

 private:
  RingMemory(void* base, std::uint64_t capacity) : base_(base), capacity_(capacity) {}

  void* base_;  // indices, records, records again
  std::uint64_t capacity_;
};

}  // namespace urnic::capture
