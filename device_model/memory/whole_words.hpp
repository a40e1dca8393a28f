// Copies to and from memory that a program reads and writes meanwhile: loads and stores of whole words keep
// aligned 8-byte words from being torn; memcpy promises nothing of the kind.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace urnic::memory {

namespace whole_words {

inline constexpr std::size_t kWord = sizeof(std::uint64_t);

inline std::uint64_t* word_at(std::byte* place) { return reinterpret_cast<std::uint64_t*>(place); }

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

// `to` is the shared memory.
inline void store_words(std::byte* to, const std::byte* from, std::size_t length) {
  using whole_words::kWord;
  const std::size_t head = whole_words::head_of(to, length);
  std::memcpy(to, from, head);
  std::size_t done = head;
  for (; length - done >= kWord; done += kWord) {
    std::uint64_t word;
    std::memcpy(&word, from + done, kWord);
    std::atomic_ref(*whole_words::word_at(to + done)).store(word, std::memory_order_relaxed);
  }
  std::memcpy(to + done, from + done, length - done);
}

// `from` is the shared memory.
inline void load_words(std::byte* to, std::byte* from, std::size_t length) {
  using whole_words::kWord;
  const std::size_t head = whole_words::head_of(from, length);
  std::memcpy(to, from, head);
  std::size_t done = head;
  for (; length - done >= kWord; done += kWord) {
    const std::uint64_t word =
        std::atomic_ref(*whole_words::word_at(from + done)).load(std::memory_order_relaxed);
    std::memcpy(to + done, &word, kWord);
  }
  std::memcpy(to + done, from + done, length - done);
}

}  // namespace urnic::memory
