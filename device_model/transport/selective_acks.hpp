// What a packet's sender says about selective acknowledgements, beside the packet (docs/selective-acks.md).
// The specification's packets have no place for it: a peer that nothing is known of gets none.
#pragma once

#include <cstdint>

namespace urnic::transport {

enum class SelectiveAcks : std::uint8_t {
  no,       // or nothing can be said beside the packet
  yes,      // the sender of a request reads them; the sender of a response gives them
  unknown,  // the packet is not its sender's own: a fault has made it
};

}  // namespace urnic::transport
