#include "analysis/flows/packet_store.hpp"

#include <algorithm>

namespace urnic::analysis {

PacketId PacketStore::find(FrameNumber number) const {
  const auto found =
      std::lower_bound(packets_.begin(), packets_.end(), number,
                       [](const Packet& packet, FrameNumber wanted) { return packet.number < wanted; });
  if (found == packets_.end() || found->number != number) return kNoPacket;
  return first_ + static_cast<PacketId>(found - packets_.begin());
}

}  // namespace urnic::analysis
