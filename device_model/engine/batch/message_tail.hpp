// How the end of a message is split for writing.
#pragma once

#include <algorithm>
#include <cstdint>

namespace urnic::engine {

inline constexpr std::uint64_t kWordBytes = 8;

constexpr std::uint64_t word_begin(std::uint64_t address) { return address & ~(kWordBytes - 1); }

// Where the part of a message begins that must become visible last: its last aligned word, or what the
// message has of that word. The stores of one copy are unordered; those of a later copy come after it. So a
// program that waits for the last byte finds the whole message.
constexpr std::uint64_t tail_begin(std::uint64_t begin, std::uint64_t end) {
  return std::max(begin, word_begin(end - 1));
}

}  // namespace urnic::engine
