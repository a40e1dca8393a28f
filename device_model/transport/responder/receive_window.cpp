#include "device_model/transport/responder/receive_window.hpp"

#include <algorithm>

#include "device_model/transport/responder/psn_check.hpp"

namespace urnic::transport {
namespace {

constexpr std::uint64_t kAll = ~std::uint64_t{0};

// Bits [from, to) of a SelectiveAckEth's `earlier`, both within it or cut to it.
std::uint64_t bits(std::int32_t from, std::int32_t to) {
  from = std::max(from, 0);
  to = std::min(to, kReportedEarlier);
  if (from >= to) return 0;
  return kAll >> (kReportedEarlier - (to - from)) << from;
}

}  // namespace

void ReceiveWindow::start(wire::Psn expected) {
  held_.clear();
  expected_ = expected;
}

Arrival ReceiveWindow::arrival(wire::Psn psn) const {
  switch (psn_region(psn, expected_)) {
    case PsnRegion::expected:
      return Arrival::in_order;
    case PsnRegion::duplicate:
      return Arrival::duplicate;
    case PsnRegion::out_of_sequence:
      break;
  }
  if (static_cast<std::uint32_t>(distance(expected_, psn)) >= packets_) return Arrival::beyond;
  return held_.holds(psn) ? Arrival::held_already : Arrival::out_of_order;
}

const HeldPacket* ReceiveWindow::take_expected() {
  while (!held_.empty() && !before(expected_, held_.front())) {
    const HeldPacket& taken = held_.take_front();
    if (taken.first() == expected_) return &taken;
    retire(taken);
  }
  return nullptr;
}

wire::SelectiveAckEth ReceiveWindow::report(wire::Psn latest) const {
  wire::SelectiveAckEth report{.reserved = 0, .latest = latest, .earlier = 0};
  // Bit i is for PSN latest - 1 - i; what comes before the expected PSN has been executed.
  report.earlier = bits(distance(expected_, latest), kReportedEarlier);
  report.earlier |= held_.firsts_before(latest);
  if (held_.any_wide()) report.earlier |= covered_before(latest);
  return report;
}

std::uint64_t ReceiveWindow::covered_before(wire::Psn latest) const {
  std::uint64_t covered = 0;
  for (auto packet = held_.last_until(latest - 1); packet; packet = held_.last_until(packet->first - 1)) {
    const std::int32_t back = distance(packet->first, latest);  // 1 or more
    const auto psns = static_cast<std::int32_t>(packet->psns);  // at most 2^23, of the longest READ
    covered |= bits(back - psns, back);
    if (back >= kReportedEarlier) break;
  }
  return covered;
}

std::optional<wire::Psn> ReceiveWindow::last_held(wire::Psn from, wire::Psn to) const {
  const auto packet = held_.last_until(to);
  if (!packet || before(packet->first, from)) return std::nullopt;
  return packet->first;
}

}  // namespace urnic::transport
