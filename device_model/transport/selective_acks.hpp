// What a packet's sender says about selective acks, out of band (docs/selective-acks.md): the specification's
// packets have no field for it. A peer of which nothing is known gets no selective acks.
//
// A packet from outside of this process has nothing out of band: such peers agree by packets
// (selective_ack_offers.hpp).
#pragma once

#include <cstdint>

namespace urnic::transport {

enum class SelectiveAcks : std::uint8_t {
  no,
  yes,      // the sender of a request reads them; the sender of a response gives them
  unknown,  // a fault has made the packet, not its sender
  outside,  // the packet came from outside of this process
};

}  // namespace urnic::transport
