// What a packet's sender says about selective acks, out of band (docs/selective-acks.md): the specification's
// packets have no field for it. A peer of which nothing is known gets no selective acks.
#pragma once

#include <cstdint>

namespace urnic::transport {

enum class SelectiveAcks : std::uint8_t {
  no,       // or the packet came without out-of-band data
  yes,      // the sender of a request reads them; the sender of a response gives them
  unknown,  // a fault has made the packet, not its sender
};

}  // namespace urnic::transport
