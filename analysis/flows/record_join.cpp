#include "analysis/flows/record_join.hpp"

#include <algorithm>

namespace urnic::analysis {
namespace {

bool is_open(const Packet& packet) { return packet.arrived == 0 && packet.fate != Fate::dropped; }

// How far back the packet of a damaged record is looked for.
constexpr std::size_t kMostLooks = 4096;

}  // namespace

std::uint64_t RecordJoin::key_of(const Packet& packet) {
  return std::uint64_t{packet.flow} << 32 | std::uint64_t{packet.psn.value()} << 8 | packet.opcode.value;
}

void RecordJoin::sent(PacketId id, const Packet& packet, std::uint32_t icrc) {
  const std::uint64_t key = key_of(packet);
  auto& ids = alike_[key].ids;
  std::rotate(ids.begin(), ids.end() - 1, ids.end());
  ids.front() = id;
  under_way_.push_back({key, id, icrc});
  if (under_way_.size() <= kMostUnderWay) return;
  const auto oldest = alike_.find(under_way_.front().key);
  if (oldest != alike_.end() && oldest->second.ids.front() == under_way_.front().id) alike_.erase(oldest);
  under_way_.pop_front();
}

PacketId RecordJoin::find(const PacketStore& packets, const Packet& packet, bool losses_are_seen) const {
  const auto found = alike_.find(key_of(packet));
  if (found == alike_.end()) return kNoPacket;
  const auto& ids = found->second.ids;
  PacketId open = kNoPacket;
  PacketId arrived = kNoPacket;
  for (const PacketId id : ids) {
    if (!packets.has(id)) break;
    const Packet& candidate = packets[id];
    if (is_open(candidate)) {
      open = id;
      // Without records of losses, the oldest may have been lost: a newer one is under way for sure.
      if (!losses_are_seen) return open;
    } else if (arrived == kNoPacket && candidate.arrived != 0) {
      arrived = id;
    }
  }
  if (open != kNoPacket) return open;
  return arrived != kNoPacket ? arrived : packets.has(ids.front()) ? ids.front() : kNoPacket;
}

PacketId RecordJoin::find_damaged(const PacketStore& packets, std::uint32_t icrc) const {
  std::size_t looks = 0;
  for (auto it = under_way_.rbegin(); it != under_way_.rend() && looks < kMostLooks; ++it, ++looks) {
    if (it->icrc == icrc && packets.has(it->id) && is_open(packets[it->id])) return it->id;
  }
  return kNoPacket;
}

}  // namespace urnic::analysis
