#include "device_model/fault/fault_action.hpp"

#include <algorithm>

#include "device_model/link/frame_edits.hpp"
#include "wire/aeth.hpp"
#include "wire/icrc.hpp"

namespace urnic::fault {

namespace {

std::uint64_t microseconds(transport::Nanoseconds span) {
  return static_cast<std::uint64_t>(span.count()) / 1000;
}

// The bit that a rule without `bits` flips: the first of the payload or, without a payload, the last of the
// headers.
std::uint32_t chosen_bit(const link::PacketAtLink& packet, const PacketView& view) {
  const std::size_t headers = view.headers.size();
  const bool payload = packet.frame.size() > headers + wire::kIcrcBytes;
  return static_cast<std::uint32_t>(payload ? headers * 8 : headers * 8 - 1);
}

// Remarks only on bits that are flipped. A bit may lie behind the packet's end, or `flips` may be full
// because several rules take the packet.
template <class Flips>
void add_flips(const FaultRule& rule, const link::PacketAtLink& packet, const PacketView& view, Flips& flips,
               std::size_t& count, link::Remarks& remarks) {
  const std::size_t before = count;
  const auto add = [&](std::uint32_t bit) {
    if (count == flips.size() || bit >= packet.frame.size() * 8) return;
    flips[count++] = bit;
    remarks.add(" ").add(bit - view.bth_at * 8);
  };
  if (rule.action.bits.empty()) add(chosen_bit(packet, view));
  for (const std::uint32_t bit : rule.action.bits) add(static_cast<std::uint32_t>(view.bth_at * 8) + bit);
  if (count == before) remarks.add(" none, the packet does not have them");
}

// What the link's mark will do, by the packet's ECN field as it is now.
std::string_view mark_remark(const link::PacketAtLink& packet) {
  switch (link::ecn(packet.frame)) {
    case link::Ecn::not_capable:
      return "not marked congestion experienced, the sender has not set ECT";
    case link::Ecn::capable:
      return "marked congestion experienced";
    case link::Ecn::experienced:
      return "marked congestion experienced before it came here";
  }
  return {};
}

void notify_sender(const link::PacketAtLink& packet, const PacketView& view, AnswerPacket& answer,
                   link::Verdict& verdict) {
  verdict.answer = answer.notify(packet, view);
  verdict.answering_queue_pair = view.bth.destination;
  verdict.goes_on_when_answered = true;
  verdict.remarks.add(verdict.answer.empty() ? "its sender is not known, and not notified of congestion"
                                             : "its sender is notified of congestion");
}

// A packet with damaged network headers has no address to answer to, and one of a stranger is nobody's
// request; such a packet goes on.
void give_answer(const FaultRule& rule, const link::PacketAtLink& packet, const PacketView& view,
                 AnswerPacket& answer, std::string_view with, link::Verdict& verdict) {
  verdict.answer = answer.acknowledge(packet, view, rule.action.syndrome);
  verdict.goes_on_when_answered = false;
  verdict.answering_queue_pair = view.bth.destination;
  verdict.remarks
      .add(verdict.answer.empty() ? "its sender is not known, not answered with " : "answered with ")
      .add(with)
      .add(wire::code(rule.action.syndrome));
}

}  // namespace

void act(const FaultRule& rule, const link::PacketAtLink& packet, const PacketView& view,
         AnswerPacket& answer, link::Verdict& verdict) {
  const Action& action = rule.action;
  verdict.touched = true;
  link::Remarks& remarks = verdict.remarks.next().add("rule \"").add(rule.name).add("\": ");
  switch (action.kind) {
    case ActionKind::drop:
      remarks.add("dropped");
      verdict.drop = true;
      break;
    case ActionKind::duplicate:
      remarks.add("duplicated ").add(action.copies).add(" times");
      verdict.more_copies += action.copies;
      break;
    case ActionKind::delay:
      remarks.add("delayed ").add(microseconds(action.delay)).add(" us");
      verdict.delay += action.delay;
      break;
    case ActionKind::reorder:
      remarks.add("held behind ").add(action.behind).add(" packets");
      verdict.behind = std::max(verdict.behind, action.behind);
      verdict.hold = std::max(verdict.hold, action.hold);
      break;
    case ActionKind::corrupt_before_icrc:
      remarks.add("inverted before the ICRC, bits of BTH on:");
      add_flips(rule, packet, view, verdict.flips_before, verdict.flips_before_count, remarks);
      break;
    case ActionKind::corrupt_after_icrc:
      remarks.add("inverted after the ICRC, bits of BTH on:");
      add_flips(rule, packet, view, verdict.flips_after, verdict.flips_after_count, remarks);
      break;
    case ActionKind::mark_ecn:
      remarks.add(mark_remark(packet));
      verdict.congestion = true;
      break;
    case ActionKind::cnp:
      notify_sender(packet, view, answer, verdict);
      break;
    case ActionKind::rnr_nak:
      give_answer(rule, packet, view, answer, "RNR NAK, timer ", verdict);
      break;
    case ActionKind::nak:
      give_answer(rule, packet, view, answer, "NAK, code ", verdict);
      break;
    case ActionKind::cut_link:
      remarks.add("link cut for ").add(microseconds(action.cut)).add(" us");
      verdict.cut = std::max(verdict.cut, action.cut);
      verdict.drop = true;
      break;
    case ActionKind::stop_qp:
      remarks.add("QP ").add(view.queue_pair.value).add(" stopped");
      verdict.drop = true;
      break;
  }
}

}  // namespace urnic::fault
