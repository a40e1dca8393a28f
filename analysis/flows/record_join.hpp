// Records of one packet at several capture points of urnic: which packet, of those that were seen sent, a
// record at its arrival or loss is of.
//
// The ICRC tells packets apart: it covers everything that does not change on the way. Packets that are the
// same bit by bit have the same one, such as a NAK that is repeated: they arrive in the order in which they
// were sent.
#pragma once

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

  // The packet of an arrival or a loss. `packet` is what the record itself tells; `is_right`: all of it is as
  // it was sent, as far as checksums tell. If every packet that it could be has arrived or was lost, the last
  // of those, since the network has copied it; kNoPacket if there is none. `losses_are_seen`: the capture has
  // every loss.
  PacketId find(const PacketStore& packets, const Packet& packet, std::uint32_t icrc, bool is_right,
                bool losses_are_seen) const;

 private:
  // A packet under way, and the ones before it with the same ICRC, and with the same flow, PSN and opcode:
  // their numbers in the order of sending.
  struct UnderWay {
    PacketId id;
    std::uint32_t icrc;
    std::uint64_t psn_key;
    std::uint64_t same_icrc;
    std::uint64_t same_psn;
  };
  using Latest = std::unordered_map<std::uint64_t, std::uint64_t>;

  static std::uint64_t psn_key(const Packet& packet);
  const UnderWay* entry(std::uint64_t number) const;
  void forget_oldest();
  PacketId choose(const PacketStore& packets, const Latest& latest, std::uint64_t key,
                  std::uint64_t UnderWay::*before, bool losses_are_seen) const;

  std::deque<UnderWay> under_way_;
  std::uint64_t first_ = 0;  // the number of the first of them
  Latest by_icrc_;
  Latest by_psn_;
};

}  // namespace urnic::analysis
