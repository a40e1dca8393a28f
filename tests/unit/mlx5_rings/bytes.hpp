// Bytes of a WQE, one field after the other, numbers big endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace urnic::engine::mlx5::test {

class Bytes {
 public:
  Bytes& number(std::uint64_t value, int bytes) {
    for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) all.push_back(std::byte(value >> shift & 0xFF));
    return *this;
  }
  Bytes& u8(std::uint64_t value) { return number(value, 1); }
  Bytes& u16(std::uint64_t value) { return number(value, 2); }
  Bytes& u32(std::uint64_t value) { return number(value, 4); }
  Bytes& u64(std::uint64_t value) { return number(value, 8); }
  Bytes& zeros(std::size_t count) {
    all.insert(all.end(), count, std::byte{0});
    return *this;
  }
  Bytes& raw(std::span<const std::byte> bytes) {
    all.insert(all.end(), bytes.begin(), bytes.end());
    return *this;
  }
  Bytes& operator+=(const Bytes& other) { return raw(other.all); }

  std::vector<std::byte> all;
};

inline Bytes operator+(Bytes one, const Bytes& other) { return one += other; }

// `count` bytes that tell their place.
inline std::vector<std::byte> pattern(std::size_t count, unsigned seed = 1) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = std::byte((i * 7 + seed) & 0xFF);
  return bytes;
}

// Number of `bytes` bytes at `at`.
inline std::uint64_t number_at(const std::byte* at, int bytes) {
  std::uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) value = value << 8 | std::to_integer<std::uint64_t>(at[i]);
  return value;
}

}  // namespace urnic::engine::mlx5::test
