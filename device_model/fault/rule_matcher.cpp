#include "device_model/fault/rule_matcher.hpp"

#include <algorithm>
#include <optional>

#include "device_model/link/chance.hpp"
#include "device_model/link/port.hpp"

namespace urnic::fault {

namespace {

// How many packets a rule with `transmission` remembers: more than are under way.
constexpr std::size_t kRememberedPackets = 65536;
constexpr std::size_t kRememberedQueuePairs = 8192;

bool is_from_outside(const link::PacketOrigin& origin) { return origin.queue_pair == link::kUnknownQpn; }

// Of the sending QP. One outside does not say its number, but a QP here has only one peer there.
std::uint64_t key_of(const link::PacketOrigin& origin, const PacketView& view) {
  const wire::Qpn queue_pair = is_from_outside(origin) ? view.bth.destination : origin.queue_pair;
  return link::mix(std::uint64_t{origin.identity.device} << 32 | queue_pair.value);
}

// Of the QP whose requests are counted, as PacketOrigin has it.
std::optional<wire::Psn> first_psn_of(const link::PacketAtLink& packet, const PacketView& view) {
  if (!is_from_outside(packet.origin)) return packet.origin.first_psn;
  const auto connection = packet.receiver.connection_of(view.bth.destination);
  if (!connection) return {};
  return view.request ? connection->receive_psn : connection->send_psn;
}

// A NAK answers a request, a congestion notification whatever carries data: in both cases of a service with
// acknowledgements.
bool suits(ActionKind action, const PacketView& view) {
  const bool nak = action == ActionKind::rnr_nak || action == ActionKind::nak;
  if (!nak && action != ActionKind::cnp) return true;
  if (!wire::is_acknowledged(view.bth.opcode.service())) return false;
  return view.request || (!nak && wire::traits(view.bth.opcode).carries_payload);
}

}  // namespace

RuleMatcher::RuleMatcher(const FaultRule& rule)
    : match_(rule.match),
      action_(rule.action.kind),
      filter_(rule.match.filter),
      transmissions_(rule.match.transmission != 0 ? kRememberedPackets : 1),
      queue_pairs_(kRememberedQueuePairs) {}

bool RuleMatcher::psn_matches(const link::PacketAtLink& packet, const PacketView& view) const {
  if (match_.psns.empty()) return true;
  std::uint32_t psn = view.bth.psn.value();
  if (match_.psns_relative) {
    const auto first = first_psn_of(packet, view);
    if (!first) return false;
    psn = (view.bth.psn - first->value()).value();
  }
  return std::find(match_.psns.begin(), match_.psns.end(), psn) != match_.psns.end();
}

bool RuleMatcher::mad_matches(const link::PacketAtLink& packet, const PacketView& view) const {
  const auto header = mad_header_of(packet, view);
  return header && std::any_of(match_.mads.begin(), match_.mads.end(),
                               [&](const MadPattern& each) { return each.matches(*header); });
}

bool RuleMatcher::conditions_hold(const link::PacketAtLink& packet, const PacketView& view) const {
  if (match_.device && *match_.device != packet.device) return false;
  if (match_.direction != packet.direction) return false;
  if (!suits(action_, view)) return false;
  if (match_.qp && *match_.qp != view.queue_pair) return false;
  if (match_.qp_ordinal != 0 && match_.qp_ordinal != view.ordinal) return false;
  if (match_.opcodes.any() && !match_.opcodes[view.bth.opcode.value]) return false;
  if (!match_.mads.empty() && !mad_matches(packet, view)) return false;
  return psn_matches(packet, view) && filter_.matches(view.headers, packet.frame);
}

bool RuleMatcher::takes(const link::PacketAtLink& packet, const PacketView& view) {
  if (!conditions_hold(packet, view)) return false;
  const std::uint64_t sender = key_of(packet.origin, view);
  if (match_.transmission != 0) {
    const std::uint64_t which = std::uint64_t{view.request} << 32 | view.bth.psn.value();
    if (++transmissions_.of(link::mix(sender, which)).seen != match_.transmission) return false;
  }
  if (match_.occurrence == 0 && match_.every == 0 && match_.count == 0) return true;
  MatchCount::Entry& count = queue_pairs_.of(sender);
  ++count.seen;
  if (match_.occurrence != 0 && count.seen != match_.occurrence) return false;
  if (match_.every != 0 && count.seen % match_.every != 0) return false;
  if (match_.count != 0 && count.taken >= match_.count) return false;
  ++count.taken;
  return true;
}

}  // namespace urnic::fault
