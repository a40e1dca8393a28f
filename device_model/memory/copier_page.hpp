// The page that the device process and one of its copiers share: one job at a time, and its bytes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "device_model/memory/waiting_memory.hpp"

namespace urnic::memory {

// Lies in a memfd that only these two processes have mapped. While the two counters are equal, all else
// belongs to the device process; while they differ, to the copier.
struct CopierPage {
  enum class Kind : std::uint32_t { read, write, operation };

  struct Piece {
    std::uint64_t address = 0;
    std::uint32_t length = 0;
    std::uint32_t failed = 0;
  };

  std::atomic<std::uint32_t> begun{0};  // jobs
  std::atomic<std::uint32_t> ended{0};
  Kind kind = Kind::read;
  std::uint32_t count = 0;  // of pieces; their bytes lie in `bytes`, one after the other
  WordOperation operation;
  Piece pieces[WaitingMemory::kMaxPieces];
  // Each piece begins where a copy to or from its address moves whole words (bytewise_copies.hpp).
  alignas(64) std::byte bytes[WaitingMemory::kMaxBytes + WaitingMemory::kMaxPieces * 64];
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

// Offset in `bytes` of the next piece, which is for `address`; `used` is where the piece before it ends.
constexpr std::size_t place_of_piece(std::size_t used, std::uint64_t address) {
  constexpr std::size_t kLine = 64;
  return used + (address - used) % kLine;
}

}  // namespace urnic::memory
