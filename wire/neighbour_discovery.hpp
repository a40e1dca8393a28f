// IPv6 neighbour discovery (RFC 4861 4.3, 4.4): solicitations and advertisements, in frames of their own.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "wire/identifiers.hpp"

namespace urnic::wire {

enum class NeighbourMessageKind : std::uint8_t { solicitation = 135, advertisement = 136 };

struct NeighbourMessage {
  NeighbourMessageKind kind = NeighbourMessageKind::solicitation;
  MacAddress destination_mac;
  MacAddress source_mac;
  Gid destination;
  Gid source;  // unspecified (zero) in a solicitation for duplicate address detection (RFC 4862 5.4.2)
  Gid target;
  // Advertisements only.
  bool solicited = false;
  bool overrides = false;
  // The source's address in a solicitation, the target's in an advertisement.
  std::optional<MacAddress> link_layer;
  friend bool operator==(const NeighbourMessage&, const NeighbourMessage&) = default;
};

// With the link-layer address option.
inline constexpr std::size_t kNeighbourFrameBytes = 14 + 40 + 24 + 8;
using NeighbourFrame = std::array<std::byte, kNeighbourFrameBytes>;

// `message.link_layer` must be set.
NeighbourFrame encode_neighbour(const NeighbourMessage& message);

// Empty: another packet, or one that RFC 4861 7.1.1 and 7.1.2 tell to discard. Nothing in `frame` is trusted.
std::optional<NeighbourMessage> parse_neighbour(std::span<const std::byte> frame);

// The group in which the owner of `address` listens for solicitations (RFC 4291 2.7.1).
Gid solicited_node_group(const Gid& address);

}  // namespace urnic::wire
