// Memory whose pages may take any time to come: those of a file in a file system that another program serves
// (FUSE), or of a file on a slow disk. A copy begins here, is made elsewhere, and is looked at later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "device_model/memory/process_memory.hpp"

namespace urnic::memory {

// A fetch-and-add, or a compare-and-swap, of one aligned word of 8 bytes.
struct WordOperation {
  std::uint64_t address = 0;
  bool compares = false;  // swaps only if the word is `compare`; else adds
  std::uint64_t compare = 0;
  std::uint64_t swap_or_add = 0;
};

// One thread's to use: the engine's.
class WaitingMemory : public ApplicationMemory {
 public:
  // What one job may have at most.
  static constexpr std::size_t kMaxPieces = 256;
  static constexpr std::size_t kMaxBytes = 256 * 1024;

  // No job is under way, so that one can begin.
  virtual bool idle() = 0;
  // Begins to copy the pieces, in their order. Only when idle, and no more than a job may have. `local` may
  // go when this returns.
  virtual void begin_read(std::span<const Transfer> batch) = 0;
  virtual void begin_write(std::span<const Transfer> batch) = 0;
  virtual void begin_operation(const WordOperation& operation) = 0;
  // False while the job is under way. Afterwards the pieces that could not be copied are marked failed, and
  // what was read lies in `local`; of an operation, the word as it was (host order), in the only piece.
  // `batch` is as it was when the job began, but for where `local` is.
  virtual bool end(std::span<Transfer> batch) = 0;

  // Nobody can wait for this memory: all fails.
  void read(std::span<Transfer> batch) final;
  void write(std::span<Transfer> batch) final;

 protected:
  WaitingMemory() : ApplicationMemory(*this) {}
};

}  // namespace urnic::memory
