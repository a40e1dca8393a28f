// ARP for IPv4 over Ethernet (RFC 826), in frames of its own. IPv4 addresses are IPv4-mapped GIDs.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "wire/identifiers.hpp"

namespace urnic::wire {

enum class ArpOperation : std::uint16_t { request = 1, reply = 2 };

struct Arp {
  ArpOperation operation = ArpOperation::request;
  MacAddress sender_mac;
  Gid sender;
  MacAddress target_mac;  // zero in a request
  Gid target;
  friend bool operator==(const Arp&, const Arp&) = default;
};

inline constexpr std::size_t kArpFrameBytes = 14 + 28;
using ArpFrame = std::array<std::byte, kArpFrameBytes>;

// The frame from `arp.sender_mac` to `destination`.
ArpFrame encode_arp(const Arp& arp, const MacAddress& destination);

// Empty: not ARP for IPv4 over Ethernet, or shorter than its fields. Bytes behind them are padding. Nothing
// in `frame` is trusted.
std::optional<Arp> parse_arp(std::span<const std::byte> frame);

}  // namespace urnic::wire
