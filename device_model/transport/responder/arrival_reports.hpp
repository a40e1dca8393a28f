// The arrivals out of order that a responder has still to report to a peer that reads selective acks: a few
// spans of PSNs, each reported by one selective-ack header if possible. An arrival that fits in no span gets
// its own; when there are too many spans, two are joined to one that takes several headers. So every arrival
// is reported, however long the reports wait behind read responses.
//
// A span is half as wide as a header, so each of many arrivals in a row is in two reports. One report may be
// lost, and the requester still does not take a packet for lost that has arrived.
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
  // `psn`, which is held, has arrived again: it becomes the `latest` of a report. Forgotten if there is no
  // room, because the peer knows already that it is held.
  void arrived_again(wire::Psn psn);
  // PSNs before `expected` need no report any more.
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
