// The arrivals out of order that a responder has still to report to a peer that takes selective acks: a few
// spans of PSNs, each as wide as one selective-ack header tells where that is possible. An arrival that does
// not fit gets a span of its own; when there are too many, two become one that takes several headers. So no
// arrival goes unreported, however long the reports have to wait behind read responses.
//
// A span is half as wide as a header, so that of many arrivals in a row each is in two reports: one may be
// lost without a packet being taken for lost that has arrived.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "device_model/transport/responder/receive_window.hpp"
#include "wire/headers.hpp"
#include "wire/psn.hpp"

namespace urnic::transport {

class ArrivalReports {
 public:
  bool empty() const { return count_ == 0; }
  void clear() { count_ = 0; }

  // `psn` has arrived and is held.
  void arrived(wire::Psn psn);
  // `psn`, which is held, has arrived again: it is to be the `latest` of a report. Forgotten where there is
  // no room, for the peer knows already that it is here.
  void arrived_again(wire::Psn psn);
  // What comes before `expected` needs no report any more.
  void forget_before(wire::Psn expected);

  // The next report, taken out; empty if there is none left.
  std::optional<wire::SelectiveAckEth> take(const ReceiveWindow& window);

 private:
  struct Span {
    wire::Psn low;
    wire::Psn high;
    bool again;
  };
  static constexpr std::uint32_t kMost = 8;
  static constexpr std::int32_t kWidth = kReportedEarlier / 2;  // from a span's low to its high, at most

  void remove(std::uint32_t place);

  std::uint32_t count_ = 0;
  std::array<Span, kMost> spans_;
};

}  // namespace urnic::transport
