// How long the IP packets are that a port carries which are not RoCE's: the host's own, and raw packets of
// programs.
#pragma once

#include <cstdint>

#include "device_model/link/frame_pool.hpp"
#include "wire/ethernet.hpp"

namespace urnic::control {

// In bytes, by the path MTU of RoCE. A path MTU of 4096 needs more than an Ethernet frame of usual size
// holds; a link that delays frames holds none that are longer than such a RoCE packet with a VLAN's tag,
// which an interface's MTU does not count (link/frame_pool.hpp).
constexpr std::uint32_t ethernet_mtu(std::uint32_t path_mtu) {
  constexpr std::uint32_t kUsual = 1500;
  constexpr std::uint32_t kLarge = link::kSlotBytes - wire::kEthernetBytes - wire::kVlanTagBytes;
  constexpr std::uint32_t kLargestUsualPathMtu = 1024;
  return path_mtu > kLargestUsualPathMtu ? kLarge : kUsual;
}

}  // namespace urnic::control
