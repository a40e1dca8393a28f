// Which programs may send and receive raw packets: [device] raw_packets (docs/configuration.md).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace urnic::control {

enum class RawPackets : std::uint8_t {
  all,         // every program that may open the device
  privileged,  // programs with CAP_NET_RAW, as on a NIC
};

// In the order of RawPackets.
inline constexpr std::array<std::string_view, 2> kRawPacketsNames{"all", "privileged"};
constexpr std::string_view name(RawPackets raw_packets) {
  return kRawPacketsNames[static_cast<std::size_t>(raw_packets)];
}

}  // namespace urnic::control
