// The window of Swift (Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the
// Datacenter", SIGCOMM 2020, algorithm 1): it grows by a packet a round trip while round trips are shorter
// than a target, and shrinks by the part that they are longer. A window below one packet becomes a pace.
// Switches need no settings, and nobody marks packets: the control for lossy links.
//
// NVIDIA's round-trip control of Zero Touch RoCE is not public in full: known is that it sends probes that
// the peer's NIC answers, and needs neither ECN nor settings of switches. Here each acknowledgement is a
// measurement, as in Swift. Some choices are ours. The target is the shortest round trip of the path and a
// headroom, because nobody tells the number of hops. A loss shrinks the window only while round trips exceed
// the target, or a link that loses packets at random would be left unused; `loss_is_congestion` is the
// paper's rule. A congestion notification counts as a round trip that is twice the target: receivers of UDP
// wires send them. Now and then it drains the queue, so that others see how long the path is
// (docs/congestion.md).
#pragma once

#include "device_model/transport/congestion/congestion_control.hpp"

namespace urnic::transport {

class Swift final : public CongestionControl {
 public:
  explicit Swift(const CongestionSettings& settings) : settings_(settings) {}

  void start(std::uint32_t packet_bytes, Time now) override;
  void sent(std::uint64_t, Time) override {}
  void acknowledged(const AcknowledgedBytes& acknowledged, Time now) override;
  void marked(Time now) override;
  void lost(Time now) override;
  bool timed_out(Time now) override;
  bool woken(Time now) override;

  SendAllowance allowance(Time now) override;
  CongestionSnapshot snapshot() const override;

  Nanoseconds target_delay() const;

 private:
  bool measured() const { return shortest_ != Nanoseconds{0}; }
  void measure(Nanoseconds round_trip, Time now);
  void consider_drain(Time now);
  bool may_decrease(Time now) const { return now - decreased_ >= round_trip_; }
  void decrease(double part, Time now);
  void clamp();
  std::uint64_t window_bytes() const;

  const CongestionSettings settings_;
  double packet_bytes_ = 1024;
  double window_ = 1;  // cwnd, in packets
  double most_ = 1;
  bool never_full_ = true;     // it was never made smaller
  Nanoseconds round_trip_{0};  // the newest
  // The shortest of this period and of the one before: a path may have become longer.
  Nanoseconds shortest_{0};
  Nanoseconds shortest_before_{0};
  Time period_ends_{};
  Time decreased_{};
  Time drain_at_{};
  Time drained_until_{};
  std::uint32_t timeouts_ = 0;  // in a row
  std::uint64_t marks_ = 0;
};

}  // namespace urnic::transport
