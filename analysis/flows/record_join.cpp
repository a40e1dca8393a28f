#include "analysis/flows/record_join.hpp"

namespace urnic::analysis {
namespace {

constexpr std::uint64_t kNone = ~std::uint64_t{0};
// Packets that are alike and under way at once.
constexpr int kMostLooks = 256;

bool is_open(const Packet& packet) { return packet.arrived == 0 && packet.fate != Fate::dropped; }

std::uint64_t latest_of(const std::unordered_map<std::uint64_t, std::uint64_t>& latest, std::uint64_t key) {
  const auto found = latest.find(key);
  return found == latest.end() ? kNone : found->second;
}

void forget(std::unordered_map<std::uint64_t, std::uint64_t>& latest, std::uint64_t key,
            std::uint64_t number) {
  const auto found = latest.find(key);
  if (found != latest.end() && found->second == number) latest.erase(found);
}

}  // namespace

std::uint64_t RecordJoin::psn_key(const Packet& packet) {
  return std::uint64_t{packet.flow} << 32 | std::uint64_t{packet.psn.value()} << 8 | packet.opcode.value;
}

const RecordJoin::UnderWay* RecordJoin::entry(std::uint64_t number) const {
  return number == kNone || number < first_ ? nullptr : &under_way_[number - first_];
}

void RecordJoin::sent(PacketId id, const Packet& packet, std::uint32_t icrc) {
  const std::uint64_t number = first_ + under_way_.size();
  const std::uint64_t key = psn_key(packet);
  under_way_.push_back({id, icrc, key, latest_of(by_icrc_, icrc), latest_of(by_psn_, key)});
  by_icrc_[icrc] = number;
  by_psn_[key] = number;
  if (under_way_.size() > kMostUnderWay) forget_oldest();
}

void RecordJoin::forget_oldest() {
  const UnderWay& oldest = under_way_.front();
  forget(by_icrc_, oldest.icrc, first_);
  forget(by_psn_, oldest.psn_key, first_);
  under_way_.pop_front();
  ++first_;
}

PacketId RecordJoin::find(const PacketStore& packets, const Packet& packet, std::uint32_t icrc, bool is_right,
                          bool losses_are_seen) const {
  const PacketId same = choose(packets, by_icrc_, icrc, &UnderWay::same_icrc, losses_are_seen);
  // By chance another flow's packet has the same one.
  const bool is_of_flow = same != kNoPacket && packets[same].flow == packet.flow;
  if (same != kNoPacket && (is_of_flow || !is_right)) return same;
  // A fault may have changed the packet and made its ICRC right again.
  return is_right ? choose(packets, by_psn_, psn_key(packet), &UnderWay::same_psn, losses_are_seen)
                  : kNoPacket;
}

PacketId RecordJoin::choose(const PacketStore& packets, const Latest& latest, std::uint64_t key,
                            std::uint64_t UnderWay::*before, bool losses_are_seen) const {
  PacketId open = kNoPacket;
  PacketId arrived = kNoPacket;
  PacketId any = kNoPacket;
  int looks = 0;
  for (const UnderWay* it = entry(latest_of(latest, key)); it != nullptr && looks < kMostLooks; ++looks) {
    if (!packets.has(it->id)) break;
    if (any == kNoPacket) any = it->id;
    const Packet& candidate = packets[it->id];
    if (is_open(candidate)) {
      open = it->id;
      // Without records of losses, the oldest may have been lost: a newer one is under way for sure.
      if (!losses_are_seen) return open;
    } else if (arrived == kNoPacket && candidate.arrived != 0) {
      arrived = it->id;
    }
    it = entry(it->*before);
  }
  if (open != kNoPacket) return open;
  return arrived != kNoPacket ? arrived : any;
}

}  // namespace urnic::analysis
