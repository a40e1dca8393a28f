#include "analysis/pictures/ladder.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/flows/verdict_text.hpp"

namespace urnic::analysis {
namespace {

ArrowKind kind_of(const Packet& packet) {
  switch (packet.answer) {
    case Answer::acknowledge:
      return ArrowKind::acknowledgement;
    case Answer::sequence_nak:
    case Answer::rnr_nak:
    case Answer::error_nak:
    case Answer::selective:
      return ArrowKind::nak;
    case Answer::read_response:
    case Answer::atomic_response:
      return packet.order == Order::repeated ? ArrowKind::retransmission : ArrowKind::response;
    case Answer::none:
      break;
  }
  if (packet.order == Order::retransmission) return ArrowKind::retransmission;
  if (packet.role == Role::request || packet.role == Role::datagram) return ArrowKind::request;
  return ArrowKind::other;
}

LadderArrow arrow_of(const FlowTracker& tracker, const Packet& packet, const Ladder& ladder, bool from_left) {
  LadderArrow arrow;
  arrow.number = packet.number;
  arrow.sent = packet.sent - ladder.begin;
  arrow.arrival_is_seen = packet.arrived != 0;
  arrow.arrived = arrow.arrival_is_seen ? std::max(packet.arrived, packet.sent) - ladder.begin : arrow.sent;
  arrow.from_left = from_left;
  arrow.is_lost = is_lost(packet.fate);
  arrow.kind = kind_of(packet);
  arrow.label = fmt::format("{} {}", packet.number, short_text(packet));
  arrow.remark = remark_text(tracker, packet);
  return arrow;
}

// How far back a packet that others overtake is looked for.
constexpr std::size_t kMostOvertakers = 1024;

void count_overtakers(std::vector<LadderArrow>& arrows) {
  for (std::size_t i = 0; i < arrows.size(); ++i) {
    LadderArrow& arrow = arrows[i];
    if (!arrow.arrival_is_seen || arrow.is_lost) continue;
    const std::size_t end = std::min(arrows.size(), i + kMostOvertakers);
    for (std::size_t j = i + 1; j < end && arrows[j].sent < arrow.arrived; ++j) {
      const LadderArrow& later = arrows[j];
      const bool overtakes = later.from_left == arrow.from_left && later.arrival_is_seen && !later.is_lost &&
                             later.arrived < arrow.arrived;
      arrow.overtaken_by += overtakes ? 1 : 0;
    }
  }
}

}  // namespace

Ladder ladder_of(const FlowTracker& tracker, const Connection& connection, const LadderChoice& choice) {
  Ladder ladder;
  ladder.begin = tracker.first_time();
  ladder.left = left_end(tracker, connection);
  ladder.right = right_end(tracker, connection);
  const PacketStore& packets = tracker.packets();
  for (PacketId id = packets.begin(); id < packets.end(); ++id) {
    const Packet& packet = packets[id];
    const bool from_left = packet.flow == connection.from_left;
    const bool is_of_it = packet.flow != kNoFlow && (from_left || packet.flow == connection.from_right);
    if (!is_of_it || packet.sent < choice.from || packet.sent > choice.to) continue;
    if (ladder.arrows.size() == choice.most) {
      ++ladder.left_out;
      continue;
    }
    ladder.arrows.push_back(arrow_of(tracker, packet, ladder, from_left));
  }
  count_overtakers(ladder.arrows);
  for (LadderArrow& arrow : ladder.arrows) {
    if (arrow.overtaken_by == 0) continue;
    if (!arrow.remark.empty()) arrow.remark += "; ";
    arrow.remark += fmt::format("arrives behind {} that were sent later", arrow.overtaken_by);
  }
  return ladder;
}

}  // namespace urnic::analysis
