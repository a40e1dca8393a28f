// A bounded queue between the engine's thread and the control thread: one of them puts in, the other takes
// out.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace urnic::engine {

template <class Entry>
class DatagramRing {
 public:
  // `entries` is a power of two. Their memory is not touched until they are used.
  explicit DatagramRing(std::uint32_t entries) : mask_(entries - 1), entries_(new Entry[entries]) {}

  // Either of them: whether fewer than half of the entries are in use.
  bool is_half_empty() const {
    const std::uint32_t consumed = consumed_.load(std::memory_order_acquire);
    return produced_.load(std::memory_order_acquire) - consumed <= mask_ / 2;
  }

  // The producer: how many entries are free.
  std::uint32_t free_entries() const {
    return mask_ + 1 -
           (produced_.load(std::memory_order_relaxed) - consumed_.load(std::memory_order_acquire));
  }

  // The producer: the entry to fill, or null if all are in use; `publish` hands it over.
  Entry* free_entry() {
    const std::uint32_t produced = produced_.load(std::memory_order_relaxed);
    if (produced - consumed_.load(std::memory_order_acquire) > mask_) return nullptr;
    return &entries_[produced & mask_];
  }
  void publish() {
    produced_.store(produced_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  // The consumer: the entry that has waited longest, or null; `pop` gives it back.
  Entry* front() {
    const std::uint32_t consumed = consumed_.load(std::memory_order_relaxed);
    if (consumed == produced_.load(std::memory_order_acquire)) return nullptr;
    return &entries_[consumed & mask_];
  }
  void pop() { consumed_.store(consumed_.load(std::memory_order_relaxed) + 1, std::memory_order_release); }

 private:
  static constexpr std::size_t kCacheLine = 64;

  const std::uint32_t mask_;
  const std::unique_ptr<Entry[]> entries_;
  alignas(kCacheLine) std::atomic<std::uint32_t> produced_{0};
  alignas(kCacheLine) std::atomic<std::uint32_t> consumed_{0};
};

}  // namespace urnic::engine
