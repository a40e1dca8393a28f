// Integers at any address in network byte order (most significant byte first), as all header fields are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace urnic::wire {

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the swaps below are for little-endian machines");

inline std::uint16_t load_be16(const std::byte* from) {
  std::uint16_t value;
  std::memcpy(&value, from, sizeof value);
  return __builtin_bswap16(value);
}

inline std::uint32_t load_be32(const std::byte* from) {
  std::uint32_t value;
  std::memcpy(&value, from, sizeof value);
  return __builtin_bswap32(value);
}

inline std::uint64_t load_be64(const std::byte* from) {
  std::uint64_t value;
  std::memcpy(&value, from, sizeof value);
  return __builtin_bswap64(value);
}

inline void store_be16(std::byte* to, std::uint16_t value) {
  value = __builtin_bswap16(value);
  std::memcpy(to, &value, sizeof value);
}

inline void store_be32(std::byte* to, std::uint32_t value) {
  value = __builtin_bswap32(value);
  std::memcpy(to, &value, sizeof value);
}

inline void store_be64(std::byte* to, std::uint64_t value) {
  value = __builtin_bswap64(value);
  std::memcpy(to, &value, sizeof value);
}

}  // namespace urnic::wire
