// Ethernet frames made field by field, as programs with raw packet queue pairs make them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "wire/identifiers.hpp"

namespace urnic::engine::test {

using FrameBytes = std::vector<std::byte>;

struct RawFrame {
  wire::MacAddress to{{2, 0, 0, 0, 0, 2}};
  wire::MacAddress from{{2, 0, 0, 0, 0, 1}};
  std::vector<std::uint16_t> vlan_tags{};
  std::uint16_t ether_type = 0x88B5;  // for local experiments
  std::vector<std::uint8_t> rest{};

  FrameBytes bytes() const {
    std::vector<std::uint8_t> all(to.bytes.begin(), to.bytes.end());
    all.insert(all.end(), from.bytes.begin(), from.bytes.end());
    for (const std::uint16_t tag : vlan_tags) {
      add_word(all, 0x8100);
      add_word(all, tag);
    }
    add_word(all, ether_type);
    all.insert(all.end(), rest.begin(), rest.end());
    FrameBytes made(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) made[i] = static_cast<std::byte>(all[i]);
    return made;
  }

  void add_udp_header() {
    constexpr std::array<std::uint16_t, 4> kWords{0x1234, 0x5678, 8, 0};
    for (const std::uint16_t word : kWords) add_word(rest, word);
  }

  static void add_word(std::vector<std::uint8_t>& to, std::uint16_t word) {
    to.push_back(static_cast<std::uint8_t>(word >> 8));
    to.push_back(static_cast<std::uint8_t>(word & 0xFF));
  }
};

inline constexpr std::uint8_t kTcp = 6;
inline constexpr std::uint8_t kUdp = 17;

// From 192.0.2.1 port 0x1234 to 192.0.2.2 port 0x5678; `option_words` of 4 bytes behind the header,
// `fragment` its flags and offset.
inline RawFrame ipv4_frame(std::uint8_t protocol = kUdp, std::uint8_t option_words = 0,
                           std::uint16_t fragment = 0x4000) {
  RawFrame frame;
  frame.ether_type = 0x0800;
  frame.rest = {static_cast<std::uint8_t>(0x45 + option_words),
                0x2C,
                0,
                40,
                0,
                0,
                static_cast<std::uint8_t>(fragment >> 8),
                static_cast<std::uint8_t>(fragment & 0xFF),
                61,
                protocol,
                0,
                0,
                192,
                0,
                2,
                1,
                192,
                0,
                2,
                2};
  frame.rest.resize(20 + option_words * std::size_t{4});
  frame.add_udp_header();
  return frame;
}

// From 2001:db8::1 to 2001:db8::2, with the same ports, traffic class 0xAB and flow label 0xCDEF1.
inline RawFrame ipv6_frame(std::uint8_t protocol = kUdp) {
  RawFrame frame;
  frame.ether_type = 0x86DD;
  frame.rest = {0x6A, 0xBC, 0xDE, 0xF1, 0, 8, protocol, 62};
  for (const std::uint8_t last : {std::uint8_t{1}, std::uint8_t{2}}) {
    const std::array<std::uint8_t, 16> address{0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last};
    frame.rest.insert(frame.rest.end(), address.begin(), address.end());
  }
  frame.add_udp_header();
  return frame;
}

}  // namespace urnic::engine::test
