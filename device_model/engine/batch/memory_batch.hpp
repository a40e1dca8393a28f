// Carries out the memory accesses of an action list in as few system calls as their order allows.
//
// The list is cut into stretches. Within a stretch, all reads come first, then all atomics, then all writes,
// one call for each process; where a stream needs another order, the next stretch begins. Accesses that are
// adjacent on both sides are joined, so the packets of a message are one piece.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "device_model/engine/batch/action_list.hpp"
#include "device_model/engine/batch/atomic_run.hpp"

namespace urnic::engine {

class MemoryBatch {
 public:
  MemoryBatch();

  // Afterwards `failed` holds each stream with a failed access, once; its failed_at and failed_tag name the
  // first failure. Later accesses of such a stream in the same stretch may have been carried out as well;
  // nothing reports them.
  void run(ActionList& list, std::vector<ActionStream*>& failed);

  // Any thread: the process whose memory is being copied now (ApplicationMemory::owner), or 0. That memory
  // may not answer, which stops the engine.
  pid_t copying_with() const {
    const pid_t pid = copying_with_.load(std::memory_order_relaxed);
    return pid != 0 ? pid : atomics_.copying_with();
  }

 private:
  static constexpr std::size_t kMaxProcesses = 16;
  static constexpr std::size_t kMaxTransfers = 512;

  // Transfers to or from one process, and the actions that each joins.
  struct Transfers {
    memory::ApplicationMemory* memory = nullptr;
    std::uint32_t count = 0;
    std::vector<memory::Transfer> transfers;
    std::vector<std::uint32_t> first;
    std::vector<std::uint32_t> last;
  };
  struct Direction {
    std::array<Transfers, kMaxProcesses> processes;
    std::uint32_t used = 0;
  };

  bool must_wait(const MemoryAction& action) const;
  void add_read(std::uint32_t index);
  void add_write(std::uint32_t index);
  void add_atomic(std::uint32_t index);
  void append(Transfers& to, std::uint64_t address, std::byte* local, std::uint32_t length,
              std::uint32_t index);
  bool join(Transfers& to, std::uint64_t address, std::byte* local, std::uint32_t length,
            std::uint32_t index);
  Transfers& transfers_of(Direction& direction, memory::ApplicationMemory* memory);
  void end_stretch();
  void run_direction(Direction& direction, AccessKind kind);
  void find_failed_actions(Transfers& batch, std::uint32_t transfer, AccessKind kind);
  void fail(std::uint32_t index);

  ActionList* list_ = nullptr;
  std::vector<ActionStream*>* failed_ = nullptr;
  std::uint64_t stretch_ = 1;
  Direction reads_;
  Direction writes_;
  AtomicRun atomics_;
  std::atomic<pid_t> copying_with_{0};  // written by this thread only
};

}  // namespace urnic::engine
