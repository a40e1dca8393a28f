// A requester's own count of the packets of its stream, which does not wrap: the n-th PSN after the first.
// So comparisons are plain ones; 24-bit PSNs exist only in packets (IBTA 9.7.2).
#pragma once

#include <compare>
#include <cstdint>

namespace urnic::transport {

class PacketNumber {
 public:
  constexpr PacketNumber() = default;
  constexpr explicit PacketNumber(std::uint64_t value) : value_(value) {}

  constexpr std::uint64_t value() const { return value_; }

  friend constexpr auto operator<=>(PacketNumber, PacketNumber) = default;
  friend constexpr PacketNumber operator+(PacketNumber number, std::uint64_t count) {
    return PacketNumber(number.value_ + count);
  }
  // Packets from `earlier` to `later`; `earlier` must not come after `later`.
  friend constexpr std::uint64_t operator-(PacketNumber later, PacketNumber earlier) {
    return later.value_ - earlier.value_;
  }

 private:
  std::uint64_t value_ = 0;
};

// The packets [first, first + count).
struct PacketRange {
  PacketNumber first;
  std::uint32_t count = 0;

  constexpr PacketNumber end() const { return first + count; }
  constexpr bool contains(PacketNumber packet) const { return first <= packet && packet < end(); }
};

}  // namespace urnic::transport
