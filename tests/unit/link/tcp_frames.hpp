// Ethernet frames with TCP segments, made and read by rules written down a second time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace urnic::link::test {

using Bytes = std::vector<std::byte>;

inline void put16(Bytes& to, std::size_t at, unsigned value) {
  to[at] = static_cast<std::byte>(value >> 8);
  to[at + 1] = static_cast<std::byte>(value);
}
inline void put32(Bytes& to, std::size_t at, std::uint32_t value) {
  put16(to, at, value >> 16);
  put16(to, at + 2, value & 0xFFFF);
}
inline unsigned get16(const Bytes& from, std::size_t at) {
  return std::to_integer<unsigned>(from[at]) << 8 | std::to_integer<unsigned>(from[at + 1]);
}
inline std::uint32_t get32(const Bytes& from, std::size_t at) {
  return std::uint32_t{get16(from, at)} << 16 | get16(from, at + 2);
}

// The ones' complement sum (RFC 1071), word by word.
inline unsigned sum16(const Bytes& bytes, std::size_t begin, std::size_t end, unsigned sum = 0) {
  for (std::size_t i = begin; i < end; i += 2) {
    sum += i + 1 < end ? get16(bytes, i) : std::to_integer<unsigned>(bytes[i]) << 8;
    sum = (sum & 0xFFFF) + (sum >> 16);
  }
  return sum;
}

struct TcpFrame {
  bool ipv6 = false;
  std::uint32_t sequence = 1000;
  std::uint32_t acknowledgment = 77;
  unsigned flags = 0x10;
  unsigned source_port = 4000;
  unsigned identification = 9;
  unsigned timestamp = 5;
  bool tagged = false;  // of a VLAN

  std::size_t ip() const { return tagged ? 18 : 14; }
  std::size_t tcp() const { return ip() + (ipv6 ? 40 : 20); }
  // With the timestamp option (RFC 7323), as Linux sends it.
  std::size_t headers() const { return tcp() + 32; }

  Bytes whole(std::size_t payload) const {
    Bytes frame(headers() + payload);
    for (std::size_t i = 0; i < 12; ++i) frame[i] = static_cast<std::byte>(i < 6 ? 1 : 2);
    if (tagged) put32(frame, 12, 0x81000005);
    put16(frame, ip() - 2, ipv6 ? 0x86DD : 0x0800);
    if (ipv6) {
      frame[ip()] = std::byte{0x60};
      put16(frame, ip() + 4, static_cast<unsigned>(frame.size() - ip() - 40));
      frame[ip() + 6] = std::byte{6};
      frame[ip() + 7] = std::byte{64};
      for (std::size_t i = 0; i < 32; ++i) frame[ip() + 8 + i] = static_cast<std::byte>(i * 7);
    } else {
      frame[ip()] = std::byte{0x45};
      put16(frame, ip() + 2, static_cast<unsigned>(frame.size() - ip()));
      put16(frame, ip() + 4, identification);
      put16(frame, ip() + 6, 0x4000);
      frame[ip() + 8] = std::byte{64};
      frame[ip() + 9] = std::byte{6};
      for (std::size_t i = 0; i < 8; ++i) frame[ip() + 12 + i] = static_cast<std::byte>(192 + i);
      put16(frame, ip() + 10, ~sum16(frame, ip(), ip() + 20) & 0xFFFF);
    }
    put16(frame, tcp(), source_port);
    put16(frame, tcp() + 2, 80);
    put32(frame, tcp() + 4, sequence);
    put32(frame, tcp() + 8, acknowledgment);
    frame[tcp() + 12] = std::byte{0x80};
    frame[tcp() + 13] = static_cast<std::byte>(flags);
    put16(frame, tcp() + 14, 500);
    put32(frame, tcp() + 20, 0x0101080A);
    put32(frame, tcp() + 24, timestamp);
    for (std::size_t i = 0; i < payload; ++i)
      frame[headers() + i] = static_cast<std::byte>((sequence + i) * 2654435761u >> 13);
    put16(frame, tcp() + 16, ~segment_sum(frame) & 0xFFFF);
    return frame;
  }
  // 0xFFFF: the check sum is right.
  unsigned segment_sum(const Bytes& frame) const {
    unsigned sum = 6 + static_cast<unsigned>(frame.size() - tcp());
    sum = sum16(frame, ipv6 ? ip() + 8 : ip() + 12, tcp(), sum);
    return sum16(frame, tcp(), frame.size(), sum);
  }
};

}  // namespace urnic::link::test
