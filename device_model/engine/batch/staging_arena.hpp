// Where payload is kept between the read of its source memory and the write of its destination.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device_model/memory/bytewise_copies.hpp"

namespace urnic::engine {

// A bump allocator, emptied as a whole. Two of them fit into a core's second-level cache: gathered payload is
// still cached when the ICRC and the scatter read it.
class StagingArena {
 public:
  static constexpr std::size_t kBytes = 512 * 1024;

  StagingArena() = default;  // no room
  // `bytes` are kBytes long and belong to the caller.
  explicit StagingArena(std::byte* bytes) : bytes_(bytes), used_(0) {}

  // Room for `length` bytes, or null. Not aligned, so consecutive calls return adjacent bytes.
  std::byte* take(std::uint32_t length) {
    if (length > kBytes - used_) return nullptr;
    std::byte* const place = bytes_ + used_;
    used_ += length;
    return place;
  }

  // Gives the next `take` the same offset within 64 bytes as `address`, so that a copy moves whole aligned
  // words (memory/bytewise_copies.hpp). Skips nothing if the last taken bytes were those before `address`.
  void align_like(std::uint64_t address) {
    const auto here = reinterpret_cast<std::uintptr_t>(bytes_) + used_;
    used_ += (address - here) % memory::kOverlapBytes;
    if (used_ > kBytes) used_ = kBytes;
  }

  std::size_t remaining() const { return kBytes - used_; }
  std::size_t used() const { return used_; }
  bool empty() const { return used_ == 0; }
  void clear() { used_ = 0; }
  const std::byte* bytes() const { return bytes_; }

 private:
  std::byte* bytes_ = nullptr;
  std::size_t used_ = kBytes;
};

}  // namespace urnic::engine
