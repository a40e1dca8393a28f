// Finds a context's QP or SRQ by its number, for every completion. Two levels of 4,096 entries: a lookup is
// two loads, and of the 2^24 possible numbers, unused ones take no memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace urnic::provider {

struct Qp;
struct Srq;

// The caller locks insertions and removals. Lookups need no lock. The objects stay the caller's.
template <typename T>
class NumberTable {
 public:
  // Null if there is none.
  T* find(std::uint32_t number) const {
    const Leaf* leaf = leaves_[index_high(number)].load(std::memory_order_acquire);
    return leaf == nullptr ? nullptr : leaf->entries[index_low(number)].load(std::memory_order_acquire);
  }

  // False when memory is short.
  bool insert(std::uint32_t number, T* object) {
    Leaf* leaf = leaves_[index_high(number)].load(std::memory_order_relaxed);
    if (leaf == nullptr) {
      void* memory = std::calloc(1, sizeof(Leaf));
      if (memory == nullptr) return false;
      leaf = new (memory) Leaf;
      leaves_[index_high(number)].store(leaf, std::memory_order_release);
    }
    leaf->entries[index_low(number)].store(object, std::memory_order_release);
    return true;
  }

  void remove(std::uint32_t number) {
    Leaf* leaf = leaves_[index_high(number)].load(std::memory_order_relaxed);
    if (leaf != nullptr) leaf->entries[index_low(number)].store(nullptr, std::memory_order_release);
  }

  // Frees the table's memory. No lookup may run beside it.
  void clear() {
    for (auto& leaf : leaves_) std::free(leaf.exchange(nullptr));
  }

 private:
  static constexpr std::uint32_t kWidth = 4096;
  struct Leaf {
    std::atomic<T*> entries[kWidth];
  };

  static std::uint32_t index_high(std::uint32_t number) { return (number >> 12) & (kWidth - 1); }
  static std::uint32_t index_low(std::uint32_t number) { return number & (kWidth - 1); }

  std::atomic<Leaf*> leaves_[kWidth];
};

using QpTable = NumberTable<Qp>;
using SrqTable = NumberTable<Srq>;

}  // namespace urnic::provider
