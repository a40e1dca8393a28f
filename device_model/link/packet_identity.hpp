// Which packet this is, so that its fate can be looked up whatever else is on the link.
#pragma once

#include <cstdint>

#include "device_model/transport/selective_acks.hpp"
#include "wire/identifiers.hpp"
#include "wire/psn.hpp"

namespace urnic::link {

struct PacketIdentity {
  std::uint32_t device = 0;      // the sending device's number, in configuration order
  std::uint32_t queue_pair = 0;  // the sending QP's ordinal: 1 is the first that its program opened there
  std::uint64_t count = 0;       // 1 is the first packet that the QP sent, of whatever kind
};

// What the sending device tells the receiving one beside the frame. It is not on the wire.
struct PacketOrigin {
  PacketIdentity identity = {};
  wire::Qpn queue_pair = {};  // the sending QP's number, which is not in its packets
  wire::Psn first_psn =
      {};  // of the QP whose requests are counted: the sender's for requests, else the peer's
  transport::SelectiveAcks selective_acks = transport::SelectiveAcks::no;
  // The sending device's address. A program cannot choose it, unlike the source address in a raw packet.
  // Zero: none of our devices sent the frame.
  wire::MacAddress device = {};
};

}  // namespace urnic::link
