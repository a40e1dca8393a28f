// Identifies a packet, so that its random impairments do not depend on other traffic.
#pragma once

#include <cstdint>

#include "device_model/transport/selective_acks.hpp"
#include "wire/identifiers.hpp"
#include "wire/psn.hpp"

namespace urnic::link {

struct PacketIdentity {
  std::uint32_t device = 0;      // the sending device's number, in configuration order
  std::uint32_t queue_pair = 0;  // the sending QP's ordinal: 1 is the first QP that its program created there
  std::uint64_t count = 0;       // 1 is the first packet of any kind that the QP sent
};

// The sending QP of a frame from outside of this process, which does not say.
inline constexpr wire::Qpn kUnknownQpn{0xFFFFFFFF};

// Out-of-band data from the sending device to the receiving one; not on the wire.
struct PacketOrigin {
  PacketIdentity identity = {};
  wire::Qpn queue_pair = {};  // the sending QP's number, which its packets do not carry
  wire::Psn first_psn =
      {};  // of the QP whose requests are counted: the sender's for requests, else the peer's
  transport::SelectiveAcks selective_acks = transport::SelectiveAcks::no;
  // The sending device's address; a program cannot forge it, unlike the source address in a raw packet. Zero:
  // the frame is not from a device of this fabric.
  wire::MacAddress device = {};
};

}  // namespace urnic::link
