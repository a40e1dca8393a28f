// Who may send and receive raw packets: [device] raw_packets (docs/configuration.md).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace urnic::control {

struct Session;

enum class RawPackets : std::uint8_t {
  all,         // whoever may open the device
  privileged,  // who has CAP_NET_RAW, as on a NIC
};

// In the order of RawPackets.
inline constexpr std::array<std::string_view, 2> kRawPacketsNames{"all", "privileged"};
constexpr std::string_view name(RawPackets raw_packets) {
  return kRawPacketsNames[static_cast<std::size_t>(raw_packets)];
}

// 0, or EPERM if the session's program may not create `what` (a raw packet QP, an RSS QP or a flow). Asked
// before anything else of the request, as the kernel does.
int check_raw_packets(const Session& session, std::string_view what);

}  // namespace urnic::control
