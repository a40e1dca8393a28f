// Atomics that are carried out together: reads each word once, computes the operations on it in their order,
// and writes it once. Only the engine does atomics for its devices, so no other atomic comes between (IBTA
// 9.4.5, ibv_atomic_cap ATOMIC_HCA).
//
// A word that this process has mapped is changed by the processor's own atomics instead: no atomic of the
// program's comes between either. ATOMIC_GLOB would promise that of all memory, also of what is not mapped.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "device_model/engine/batch/action_list.hpp"

namespace urnic::engine {

class AtomicRun {
 public:
  bool empty() const { return operations_ == 0; }

  // False: `run` must come before `action` can be added, because there is no room, or because its word may
  // already be here under another address: memory can be mapped twice, in one process or in two, and then
  // words at the same offset of two pages may be the same word.
  bool takes(const MemoryAction& action) const;

  // Only after `takes` returned true. `index` is the action's place in its list.
  void add(const MemoryAction& action, std::uint32_t index);

  // Carries out the added atomics, and calls fail(index) for each that failed. Leaves out an atomic whose
  // stream failed before it.
  template <class Fail>
  void run(const ActionList& list, Fail fail) {
    read_words();
    for (std::uint32_t i = 0; i < operations_; ++i) {
      const std::uint32_t index = operation_[i].index;
      const MemoryAction& action = list.memory[index];
      if (action.stream->discards(index)) continue;
      if (access_[operation_[i].word].failed) {
        fail(index);
      } else {
        compute(list.atomics[action.operands], operation_[i].word);
      }
    }
    write_words();
    for (std::uint32_t i = 0; i < operations_; ++i) {
      if (word_[operation_[i].word].write_failed) fail(operation_[i].index);
    }
    words_ = operations_ = 0;
  }

  // MemoryBatch::copying_with, for this part of a batch.
  pid_t copying_with() const { return copying_with_.load(std::memory_order_relaxed); }

 private:
  std::atomic<pid_t> copying_with_{0};  // the engine thread's to change
  static constexpr std::uint32_t kMaxOperations = 128;

  struct Word {
    memory::ApplicationMemory* memory = nullptr;
    std::uint64_t* in_place = nullptr;  // null: it is read and written
    std::uint64_t value = 0;
    bool changed = false;
    bool write_failed = false;
  };
  struct Operation {
    std::uint32_t index = 0;
    std::uint32_t word = 0;
  };

  bool is_word(std::uint32_t word, const MemoryAction& action) const {
    return access_[word].address == action.address && word_[word].memory == action.memory;
  }
  std::uint32_t word_for(const MemoryAction& action);
  void read_words();
  bool is_in_place(std::uint32_t word) const { return word_[word].in_place != nullptr; }
  static void operate(const AtomicOperands& operands, std::uint64_t& word);
  void compute(const AtomicOperands& operands, std::uint32_t word);
  void write_words();

  std::uint32_t words_ = 0;
  std::array<Word, kMaxOperations> word_;
  std::array<memory::Transfer, kMaxOperations> access_;  // of the word at the same place
  std::uint32_t operations_ = 0;
  std::array<Operation, kMaxOperations> operation_;
};

}  // namespace urnic::engine
