// Numbers that lie in memory with their highest byte first.
#pragma once

#include <atomic>
#include <bit>
#include <concepts>
#include <cstdint>

namespace urnic::abi::mlx5 {

constexpr std::uint16_t swapped(std::uint16_t value) { return __builtin_bswap16(value); }
constexpr std::uint32_t swapped(std::uint32_t value) { return __builtin_bswap32(value); }
constexpr std::uint64_t swapped(std::uint64_t value) { return __builtin_bswap64(value); }

// From the host's order to big endian, or back.
template <std::unsigned_integral Number>
constexpr Number big_endian(Number value) {
  return std::endian::native == std::endian::big ? value : swapped(value);
}

template <std::unsigned_integral Number>
class BigEndian {
 public:
  BigEndian() = default;
  explicit constexpr BigEndian(Number value) : stored_(big_endian(value)) {}
  constexpr Number value() const { return big_endian(stored_); }

 private:
  Number stored_;
};

using Big16 = BigEndian<std::uint16_t>;
using Big32 = BigEndian<std::uint32_t>;
using Big64 = BigEndian<std::uint64_t>;

// A word that program and device write and read at the same time.
class SharedBig32 {
 public:
  std::uint32_t load(std::memory_order order) const { return big_endian(stored_.load(order)); }
  void store(std::uint32_t value, std::memory_order order) { stored_.store(big_endian(value), order); }
  // Stores `value` if the word is still `expected`.
  bool exchange(std::uint32_t expected, std::uint32_t value) {
    std::uint32_t seen = big_endian(expected);
    return stored_.compare_exchange_strong(seen, big_endian(value), std::memory_order_acq_rel);
  }

 private:
  std::atomic<std::uint32_t> stored_;
};
static_assert(sizeof(SharedBig32) == 4);

}  // namespace urnic::abi::mlx5
