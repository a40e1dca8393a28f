// Copies to and from memory that a program reads and writes meanwhile: aligned 8-byte words are never torn;
// memcpy promises nothing of the kind.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace urnic::memory {

namespace whole_words {

inline constexpr std::size_t kWord = sizeof(std::uint64_t);

// A register of the processor, loaded and stored with one instruction. What that reads or writes is divided
// at the ends of cache lines at most, which are ends of words, too.
using Register [[gnu::vector_size(16), gnu::aligned(1), gnu::may_alias]] = std::uint64_t;
using Word [[gnu::aligned(1), gnu::may_alias]] = std::uint64_t;

// Volatile: once each, with its own size, and not as a call of memcpy. (No template: its argument would lose
// the alignment of 1.)
inline void copy_register(std::byte* to, const std::byte* from) {
  *reinterpret_cast<volatile Register*>(to) = *reinterpret_cast<const volatile Register*>(from);
}
inline void copy_word(std::byte* to, const std::byte* from) {
  *reinterpret_cast<volatile Word*>(to) = *reinterpret_cast<const volatile Word*>(from);
}

// The bytes in front of the first whole word of `place`.
inline std::size_t head_of(const std::byte* place, std::size_t length) {
  return std::min(length, (kWord - reinterpret_cast<std::uintptr_t>(place) % kWord) % kWord);
}

}  // namespace whole_words

// The `length` bytes from `from` on; null if they are not all among `bytes`.
inline std::byte* reach(std::span<std::byte> bytes, std::uint64_t from, std::size_t length) {
  if (from > bytes.size() || length > bytes.size() - from) return nullptr;
  return bytes.data() + from;
}

// Tears no aligned word of `shared`, which is `to` or `from`. If both are shared, no word of either one where
// the two have the same place in a word.
inline void copy_words(std::byte* to, const std::byte* from, std::size_t length, const std::byte* shared) {
  using namespace whole_words;
  if (length == 0) return;  // the pointers may be null
  constexpr std::size_t kRegister = sizeof(Register);
  std::size_t done = head_of(shared, length);
  std::memcpy(to, from, done);
  for (; length - done >= 4 * kRegister; done += 4 * kRegister) {
    copy_register(to + done, from + done);
    copy_register(to + done + kRegister, from + done + kRegister);
    copy_register(to + done + 2 * kRegister, from + done + 2 * kRegister);
    copy_register(to + done + 3 * kRegister, from + done + 3 * kRegister);
  }
  for (; length - done >= kWord; done += kWord) copy_word(to + done, from + done);
  std::memcpy(to + done, from + done, length - done);
}

}  // namespace urnic::memory
