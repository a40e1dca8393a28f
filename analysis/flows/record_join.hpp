// Records of one packet at several capture points of urnic: which packet, of those that were seen sent, a
// record at its arrival or loss is of.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>

#include "analysis/flows/packet.hpp"
#include "analysis/flows/packet_store.hpp"

namespace urnic::analysis {

class RecordJoin {
 public:
  // Packets under way that are remembered.
  static constexpr std::size_t kMostUnderWay = 1 << 17;

  // `icrc` as the frame has it.
  void sent(PacketId id, const Packet& packet, std::uint32_t icrc);
  // The packet of an arrival or a loss. `packet`: what the record itself tells. If every packet that it could
  // be has arrived or was lost, the last of those, since the network has copied it; kNoPacket if there is
  // none. `losses_are_seen`: the capture has every loss, so no packet is left out but by a record.
  PacketId find(const PacketStore& packets, const Packet& packet, bool losses_are_seen) const;
  // The packet of a damaged record, whose fields may be wrong: one under way with the same ICRC.
  PacketId find_damaged(const PacketStore& packets, std::uint32_t icrc) const;

 private:
  // The latest packets with the same flow, PSN and opcode, the newest first.
  struct Alike {
    std::array<PacketId, 4> ids{kNoPacket, kNoPacket, kNoPacket, kNoPacket};
  };
  struct UnderWay {
    std::uint64_t key;
    PacketId id;
    std::uint32_t icrc;
  };

  static std::uint64_t key_of(const Packet& packet);

  std::unordered_map<std::uint64_t, Alike> alike_;
  std::deque<UnderWay> under_way_;
};

}  // namespace urnic::analysis
