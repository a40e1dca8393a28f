// The Internet checksum (RFC 1071): the ones' complement of the ones' complement sum of 16-bit words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace urnic::wire {

// A sum over pieces of any length. Words are added as they lie in memory, which RFC 1071 section 2(B) allows:
// the result, stored as it lies in memory too, has the right byte order on every machine.
class InternetSum {
 public:
  // Adds `bytes` behind everything added before, also when that was an odd number of bytes.
  void add(std::span<const std::byte> bytes) {
    std::size_t at = 0;
    if (odd_ && !bytes.empty()) {
      add_byte(bytes[at++], 1);
      odd_ = false;
    }
    for (; at + 4 <= bytes.size(); at += 4) add_word32(bytes.data() + at);
    for (; at < bytes.size(); ++at) {
      add_byte(bytes[at], odd_ ? 1 : 0);
      odd_ = !odd_;
    }
  }

  // Adds the four bytes at `bytes`; an even number of bytes must have been added before.
  void add_word32(const std::byte* bytes) {
    std::uint32_t word;
    std::memcpy(&word, bytes, sizeof word);
    sum_ += word;
  }

  // Adds `value` as two bytes, the most significant first.
  void add_be16(std::uint16_t value) { sum_ += __builtin_bswap16(value); }

  // The checksum, to be stored as it lies in memory. 0 when bytes that hold their right checksum were added.
  std::uint16_t checksum() const {
    std::uint64_t sum = sum_;
    while (sum >> 16) sum = (sum & 0xFFFF) + (sum >> 16);
    return static_cast<std::uint16_t>(~sum);
  }

 private:
  void add_byte(std::byte value, std::size_t position) {
    std::uint16_t word = 0;
    std::memcpy(reinterpret_cast<std::byte*>(&word) + position, &value, 1);
    sum_ += word;
  }

  std::uint64_t sum_ = 0;
  bool odd_ = false;
};

}  // namespace urnic::wire
