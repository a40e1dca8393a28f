// In which pieces the end of a message is written.
#pragma once

#include <algorithm>
#include <cstdint>

namespace urnic::engine {

inline constexpr std::uint64_t kWordBytes = 8;

constexpr std::uint64_t word_begin(std::uint64_t address) { return address & ~(kWordBytes - 1); }

// Where the part of a message's last bytes begins that must be seen last: the last aligned word, or what the
// message has of it. The stores of one copy are not ordered among themselves, those of a later one are behind
// it; so programs that wait for the last byte find the rest in place.
constexpr std::uint64_t tail_begin(std::uint64_t begin, std::uint64_t end) {
  return std::max(begin, word_begin(end - 1));
}

}  // namespace urnic::engine
