#include "analysis/flows/packet_judge.hpp"

#include <algorithm>

#include "analysis/dissection/selective_ack_ranges.hpp"
#include "wire/aeth.hpp"

namespace urnic::analysis {
namespace {

// A larger value is better known, and is not replaced by a smaller one.
int certainty(Fate fate) {
  switch (fate) {
    case Fate::unknown:
      return 0;
    case Fate::vanished:
    case Fate::presumed_lost:
    case Fate::unanswered:
    case Fate::refused:
      return 1;
    case Fate::acknowledged:
      return 2;
    case Fate::arrived:
    case Fate::dropped:
    case Fate::damaged:
      return 3;
  }
  return 0;
}

bool is_first(wire::Opcode opcode) { return wire::traits(opcode).first; }
bool is_last(wire::Opcode opcode) { return wire::traits(opcode).last; }

}  // namespace

void PacketJudge::sent(PacketId id) {
  if (packets_[id].role == Role::request) request(id);
  if (packets_[id].role == Role::datagram) datagram(packets_[id]);
  if (packets_[id].flow != kNoFlow) count_sent(packets_[id]);
}

void PacketJudge::datagram(Packet& packet) {
  ++flows_.flows()[packet.flow].counters.messages;
  packet.is_counted = !flows_.state(packet.flow).is_watched;
  if (packet.is_counted) add_goodput(packet.flow, packet.payload, packet.sent);
}

void PacketJudge::count_sent(const Packet& packet) {
  Flow& flow = flows_.flows()[packet.flow];
  FlowCounters& counters = flow.counters;
  ++counters.packets;
  counters.bytes += packet.frame_bytes;
  counters.payload += packet.payload;
  if (packet.role == Role::notification) ++counters.notifications;
  if (flow.first == 0) flow.first = packet.sent;
  flow.last = packet.sent;
  Interval& interval = flow.series.at(packet.sent);
  ++interval.packets;
  interval.bytes += packet.frame_bytes;
  if (packet.order == Order::retransmission) {
    ++counters.retransmissions;
    ++interval.retransmissions;
  }
  if (packet.order == Order::late) ++counters.late;
  if (packet.order == Order::after_gap) counters.missing += packet.gap;
}

void PacketJudge::request(PacketId id) {
  Packet& packet = packets_[id];
  if (flows_.state(packet.flow).requests.is_far(packet.psn)) packet.flow = flows_.renew(packet.flow);
  if (packet.flow == kNoFlow) return;
  learn_path_mtu(packet);
  const bool is_read = packet.opcode.operation() == wire::Operation::read_request;
  RequestWindow& requests = flows_.state(packet.flow).requests;
  slots_ -= requests.size();
  const OrderVerdict verdict = requests.send({.psn = packet.psn,
                                              .number = packet.number,
                                              .id = id,
                                              .time = packet.sent,
                                              .payload = packet.payload,
                                              .is_read = is_read,
                                              .psns = is_read ? psns_of(packet) : 1,
                                              .length = packet.length,
                                              .identification = packet.identification});
  bound_slots(packet.flow);
  packet.order = verdict.order;
  packet.of = verdict.of;
  packet.gap = verdict.gap;
  packet.transmission = verdict.transmission;
  if (verdict.order == Order::copy) {
    ++flows_.flows()[packet.flow].counters.copies;
  } else if (verdict.order == Order::retransmission) {
    previous_transmission(packet, verdict);
  } else {
    count_message(packet);
    // No answer will tell whether it has arrived.
    const bool is_answered = wire::is_acknowledged(flows_.flows()[packet.flow].service);
    packet.is_counted = !is_answered && !flows_.state(packet.flow).is_watched;
    if (packet.is_counted) add_goodput(packet.flow, packet.payload, packet.sent);
  }
}

// Why was the packet sent again? Where arrivals are seen, their records say what became of the one before.
void PacketJudge::previous_transmission(Packet& packet, const OrderVerdict& verdict) {
  if (packets_.has(verdict.of_id)) packet.message = packets_[verdict.of_id].message;
  if (flows_.state(packet.flow).is_watched || verdict.was_answered) return;
  const Sighting seen{packet.sent, packet.number};
  if (verdict.was_asked_for) {
    set_fate(verdict.of_id, Fate::presumed_lost, seen);
  } else if (!verdict.in_going_back) {
    set_fate(verdict.of_id, Fate::unanswered, seen);
  }
}

void PacketJudge::count_message(Packet& packet) {
  FlowState& state = flows_.state(packet.flow);
  if (is_first(packet.opcode)) {
    ++state.messages;
    state.message_bytes = 0;
    state.message_is_whole = true;
  }
  if (packet.order != Order::next && !is_first(packet.opcode)) state.message_is_whole = false;
  state.message_bytes += packet.payload;
  packet.message = state.messages;
  if (!is_last(packet.opcode)) return;
  if (state.message_is_whole) packet.message_bytes = state.message_bytes;
  ++flows_.flows()[packet.flow].counters.messages;
}

void PacketJudge::arrived(PacketId id, const Sighting& seen) {
  Packet& packet = packets_[id];
  packet.arrived = seen.time;
  set_fate(id, Fate::arrived, seen);
  const bool carries = packet.role == Role::request || packet.role == Role::datagram;
  if (packet.flow == kNoFlow || !carries) return;
  if (packet.role == Role::request) packet.arrival = flows_.state(packet.flow).requests.arrive(packet.psn);
  if (packet.arrival == Arrival::again || packet.is_counted) return;
  packet.is_counted = true;
  add_goodput(packet.flow, packet.payload, seen.time);
}

void PacketJudge::answer(PacketId id, const Sighting& seen) {
  Packet& packet = packets_[id];
  if (packet.is_judged || packet.flow == kNoFlow) return;
  packet.is_judged = true;
  const bool to_read = packet.answer == Answer::read_response;
  if (opposite(packet) == kNoFlow) flows_.pair_by_answer(packet.flow, packet.psn, to_read);
  FlowCounters& counters = flows_.flows()[packet.flow].counters;
  counters.sequence_naks += packet.answer == Answer::sequence_nak ? 1 : 0;
  counters.rnr_naks += packet.answer == Answer::rnr_nak ? 1 : 0;
  counters.error_naks += packet.answer == Answer::error_nak ? 1 : 0;
  counters.selective_acks += packet.answer == Answer::selective ? 1 : 0;
  if (opposite(packet) == kNoFlow) return;
  switch (packet.answer) {
    case Answer::none:
      return;
    case Answer::read_response:
      read_response(packet, seen);
      return;
    case Answer::atomic_response:
    case Answer::acknowledge:
      if (const RequestSlot* const asked = flows_.state(opposite(packet)).requests.slot(packet.psn))
        packet.answers = packet.answer == Answer::atomic_response ? asked->number : 0;
      acknowledge(packet, packet.psn + 1, seen);
      packet.is_repeated_ack = packet.acks == 0;
      return;
    case Answer::sequence_nak:
    case Answer::rnr_nak:
    case Answer::error_nak:
    case Answer::selective:
      acknowledge(packet, packet.psn, seen);
      refuse(packet, seen);
      return;
  }
}

void PacketJudge::read_response(Packet& packet, const Sighting& seen) {
  learn_path_mtu(packet);
  const FlowIndex asker = opposite(packet);
  RequestWindow& requests = flows_.state(asker).requests;
  RequestSlot* slot = requests.slot(packet.psn);
  if (slot == nullptr || !slot->is_read) return;
  packet.answers = slot->number;
  if (packets_.has(slot->id) && packets_[slot->id].psn == packet.psn) {
    slots_ -= requests.size();
    requests.extend_read(packet.psn, psns_of(packets_[slot->id]));
    bound_slots(asker);
    slot = requests.slot(packet.psn);
    if (slot == nullptr) return;
  }
  FlowState& state = flows_.state(packet.flow);
  const std::int32_t ahead = state.has_responses ? distance(state.next_response, packet.psn) : 0;
  const bool begins = is_first(packet.opcode);
  packet.order = slot->is_answered      ? Order::repeated
                 : ahead < 0            ? Order::late
                 : ahead > 0 && !begins ? Order::after_gap
                                        : Order::next;
  if (packet.order == Order::after_gap) packet.gap = static_cast<std::uint32_t>(ahead);
  if (packet.order != Order::repeated) add_goodput(packet.flow, packet.payload, seen.time);
  slot->is_answered = true;
  if (!state.has_responses || ahead >= 0) state.next_response = packet.psn + 1;
  state.has_responses = true;
  acknowledge(packet, packet.psn + 1, seen);
}

void PacketJudge::acknowledge(Packet& packet, wire::Psn end, const Sighting& seen) {
  const FlowIndex asker = opposite(packet);
  FlowState& state = flows_.state(asker);
  RequestWindow& requests = state.requests;
  if (!state.is_watched && distance(requests.unacknowledged(), end) <= RequestWindow::kFarthest) {
    for (wire::Psn psn = requests.unacknowledged(); distance(psn, end) > 0; ++psn)
      if (const RequestSlot* const slot = requests.slot(psn)) set_fate(slot->id, Fate::acknowledged, seen);
  }
  slots_ -= requests.size();
  const AckVerdict verdict = requests.acknowledge(end, seen.time);
  bound_slots(asker);
  packet.acks_first = verdict.first;
  packet.acks_last = verdict.last;
  packet.acks = verdict.psns;
  if (verdict.round_trip) flows_.flows()[asker].series.add_round_trip(seen.time, *verdict.round_trip);
  if (!state.is_watched) add_goodput(asker, verdict.payload, seen.time);
}

// A NAK of any kind: the packet that it names, and what it says of those behind it.
void PacketJudge::refuse(Packet& packet, const Sighting& seen) {
  FlowState& state = flows_.state(opposite(packet));
  if (const RequestSlot* const named = state.requests.slot(packet.psn)) packet.answers = named->number;
  if (packet.answer == Answer::sequence_nak) state.requests.go_back(packet.psn);
  if (packet.answer == Answer::selective) report(packet, seen);
  if (packet.answer != Answer::rnr_nak && packet.answer != Answer::error_nak) return;
  const RequestSlot* const named = state.requests.slot(packet.psn);
  if (named != nullptr) set_fate(named->id, Fate::refused, seen);
  state.requests.go_back(packet.psn);
}

void PacketJudge::report(const Packet& packet, const Sighting& seen) {
  const FlowIndex asker = opposite(packet);
  FlowState& state = flows_.state(asker);
  wire::Psn hole = packet.psn;
  std::uint64_t goodput = 0;
  const wire::SelectiveAckEth header{.latest = packet.latest, .earlier = packet.earlier};
  for (const PsnRange& range : selective_ack_ranges(packet.psn, header)) {
    // What lies between two ranges is missing; farther back than the header reaches nothing is told.
    const bool is_told = distance(range.first, packet.latest) < 64;
    for (; is_told && distance(hole, range.first) > 0; ++hole)
      if (RequestSlot* const missing = state.requests.slot(hole)) missing->is_asked_for = true;
    for (wire::Psn psn = range.first; distance(psn, range.last) >= 0; ++psn) {
      RequestSlot* const slot = state.requests.slot(psn);
      if (slot == nullptr || slot->is_reported) continue;
      slot->is_reported = true;
      goodput += slot->payload;
      if (!state.is_watched) set_fate(slot->id, Fate::acknowledged, seen);
    }
    hole = range.last + 1;
  }
  if (!state.is_watched) add_goodput(asker, goodput, seen.time);
}

void PacketJudge::set_fate(PacketId id, Fate fate, const Sighting& seen) {
  if (!packets_.has(id)) return;
  Packet& packet = packets_[id];
  if (certainty(fate) <= certainty(packet.fate)) return;
  const bool was_lost = is_lost(packet.fate);
  packet.fate = fate;
  packet.fate_record = seen.record;
  changed_.push_back(id);
  if (packet.flow == kNoFlow || was_lost == is_lost(fate)) return;
  Flow& flow = flows_.flows()[packet.flow];
  if (was_lost) {
    --flow.counters.lost;
    return;
  }
  ++flow.counters.lost;
  ++flow.series.at(packet.sent).lost;
}

void PacketJudge::add_goodput(FlowIndex flow, std::uint64_t bytes, std::int64_t time) {
  if (bytes == 0) return;
  flows_.flows()[flow].counters.goodput += bytes;
  flows_.flows()[flow].series.at(time).goodput += bytes;
}

// The first packet of several, and those in the middle, are full (IBTA 9.7.5.1.3).
void PacketJudge::learn_path_mtu(const Packet& packet) {
  if (is_last(packet.opcode) || packet.payload == 0) return;
  Flow& flow = flows_.flows()[packet.flow];
  flow.path_mtu = packet.payload;
  if (flow.opposite != kNoFlow) flows_.flows()[flow.opposite].path_mtu = packet.payload;
}

// How many packets the response to a READ has; 1 if the path MTU is not known yet.
std::uint32_t PacketJudge::psns_of(const Packet& packet) const {
  const std::uint32_t mtu = flows_.flows()[packet.flow].path_mtu;
  if (mtu == 0 || packet.length <= mtu) return 1;
  const std::uint64_t psns = (std::uint64_t{packet.length} + mtu - 1) / mtu;
  return psns > static_cast<std::uint64_t>(RequestWindow::kFarthest) ? 1 : static_cast<std::uint32_t>(psns);
}

// A window that would take more than its share begins anew: the capture is damaged, or made to do harm.
void PacketJudge::bound_slots(FlowIndex flow) {
  constexpr std::size_t kMostSlots = std::size_t{4} << 20;
  RequestWindow& requests = flows_.state(flow).requests;
  slots_ += requests.size();
  if (slots_ <= kMostSlots) return;
  slots_ -= requests.size();
  requests.clear();
}

}  // namespace urnic::analysis
