// Finds a context's QP by its number: what every completion needs. Two levels of 4,096, so that a lookup is
// two loads and the 2^24 possible numbers cost nothing until used.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace urnic::provider {

struct Qp;

// Insertions and removals take turns (the caller locks); lookups may run beside them.
class QpTable {
 public:
  Qp* find(std::uint32_t qpn) const {
    const Leaf* leaf = leaves_[index_high(qpn)].load(std::memory_order_acquire);
    return leaf == nullptr ? nullptr : leaf->entries[index_low(qpn)].load(std::memory_order_acquire);
  }

  // False when memory is short.
  bool insert(std::uint32_t qpn, Qp* qp) {
    Leaf* leaf = leaves_[index_high(qpn)].load(std::memory_order_relaxed);
    if (leaf == nullptr) {
      void* memory = std::calloc(1, sizeof(Leaf));
      if (memory == nullptr) return false;
      leaf = new (memory) Leaf;
      leaves_[index_high(qpn)].store(leaf, std::memory_order_release);
    }
    leaf->entries[index_low(qpn)].store(qp, std::memory_order_release);
    return true;
  }

  void remove(std::uint32_t qpn) {
    Leaf* leaf = leaves_[index_high(qpn)].load(std::memory_order_relaxed);
    if (leaf != nullptr) leaf->entries[index_low(qpn)].store(nullptr, std::memory_order_release);
  }

  void clear() {
    for (auto& leaf : leaves_) std::free(leaf.exchange(nullptr));
  }

 private:
  static constexpr std::uint32_t kWidth = 4096;
  struct Leaf {
    std::atomic<Qp*> entries[kWidth];
  };

  static std::uint32_t index_high(std::uint32_t qpn) { return (qpn >> 12) & (kWidth - 1); }
  static std::uint32_t index_low(std::uint32_t qpn) { return qpn & (kWidth - 1); }

  std::atomic<Leaf*> leaves_[kWidth];
};

}  // namespace urnic::provider
