// The fields of a packet that rules look at.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "device_model/link/fault_hook.hpp"
#include "wire/headers.hpp"

namespace urnic::fault {

struct PacketView {
  wire::Bth bth;
  bool request = false;
  std::size_t bth_at = 0;              // offset in the frame
  std::span<const std::byte> headers;  // from the Ethernet header or the LRH to the last extended header
  // The QP that a rule for this device and direction names: the sender of a packet towards the switch, the
  // receiver of a packet from it.
  wire::Qpn queue_pair;
  std::uint32_t ordinal = 0;
};

// Empty if the frame has no BTH.
std::optional<PacketView> look_at(const link::PacketAtLink& packet);

}  // namespace urnic::fault
