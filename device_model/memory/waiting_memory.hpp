// Memory whose pages may take any time to come: those of a file that another program serves (FUSE), or of a
// file on a slow disk. A copy begins here, another process makes it, and the caller asks later for its end.
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

// For one thread: the engine's.
class WaitingMemory : public ApplicationMemory {
 public:
  // Limits of one job.
  static constexpr std::size_t kMaxPieces = 256;
  static constexpr std::size_t kMaxBytes = 256 * 1024;

  // True if no job is under way, so that one can begin.
  virtual bool idle() = 0;
  // Begin to copy the pieces, in their order. Only when idle, and within the limits of a job. `local` need
  // not stay valid after this returns.
  virtual void begin_read(std::span<const Transfer> batch) = 0;
  virtual void begin_write(std::span<const Transfer> batch) = 0;
  // Begins `operation`, only when idle.
  virtual void begin_operation(const WordOperation& operation) = 0;
  // False while the job is under way. Then marks the pieces that could not be copied as failed, and puts what
  // was read into `local`; for an operation, the word's old value (host order), in the only piece. `batch`
  // must be the job's; only `local` may lie elsewhere.
  virtual bool end(std::span<Transfer> batch) = 0;

  // Would block, so all transfers fail.
  void read(std::span<Transfer> batch) final;
  void write(std::span<Transfer> batch) final;

 protected:
  WaitingMemory() : ApplicationMemory(*this) {}
};

}  // namespace urnic::memory
