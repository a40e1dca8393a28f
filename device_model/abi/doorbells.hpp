// Doorbells: how a provider tells the engine which QPs have new send WQEs, and how the provider learns that
// the engine sleeps and must be woken.
//
// A context has one range of doorbell pages, which its processes write, and one page of engine status, which
// they can only read. To ring: write the WQE, store the producer index (release), call `ring`, and if
// `must_wake` then write 8 bytes to the context's eventfd. While the engine is awake there is no system call.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace urnic::abi {

inline constexpr std::uint32_t kDoorbellsPerContext = 64 * 1024;

// A two-level bitmap: one bit per QP (its doorbell number within the context), and above it one bit per word.
struct Doorbells {
  std::array<std::atomic<std::uint64_t>, kDoorbellsPerContext / 64 / 64> summary;
  std::array<std::atomic<std::uint64_t>, kDoorbellsPerContext / 64> bits;

  // Sets the bit of `number` (below kDoorbellsPerContext). Safe from any thread. Sequentially consistent: an
  // engine that is about to sleep sees the bit, or the caller's `must_wake` sees `sleeping`.
  void ring(std::uint32_t number) {
    const std::uint32_t word = number / 64;
    bits[word].fetch_or(std::uint64_t{1} << (number % 64));
    const std::uint64_t summary_bit = std::uint64_t{1} << (word % 64);
    if ((summary[word / 64].load() & summary_bit) == 0) summary[word / 64].fetch_or(summary_bit);
  }
};
static_assert(sizeof(Doorbells) == 8192 + 128);

// Written by the engine only.
struct EngineStatus {
  std::atomic<std::uint32_t> sleeping;  // not 0: the engine sleeps or is about to; after ringing, wake it
  // Not 0: other threads occupy the processors that the engine needs. A poller that finds nothing should then
  // sleep a little.
  std::atomic<std::uint32_t> starved;
};

// True if the engine must be woken. To be asked after `ring` or after any other store that the engine must
// see.
inline bool must_wake(const EngineStatus& status) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return status.sleeping.load(std::memory_order_relaxed) != 0;
}

}  // namespace urnic::abi
