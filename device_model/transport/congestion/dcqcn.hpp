// The reaction point of DCQCN (Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM
// 2015, section 3.1, "RP algorithm"): a congestion notification lowers the rate by a part of alpha, which
// rises with each notification and falls without them; a timer and a byte counter raise it again, first half
// of the way back to the rate before ("fast recovery"), then beyond it ("additive", "hyper increase").
#pragma once

#include "device_model/transport/congestion/congestion_control.hpp"

namespace urnic::transport {

class Dcqcn final : public CongestionControl {
 public:
  explicit Dcqcn(const CongestionSettings& settings) : settings_(settings) {}

  void start(std::uint32_t packet_bytes, Time now) override;
  void sent(std::uint64_t bytes, Time now) override;
  void acknowledged(const AcknowledgedBytes&, Time) override {}
  void marked(Time now) override;
  // A loss is no sign of congestion here: links that mark before they drop need none, and others would be
  // slowed by it.
  void lost(Time) override {}
  bool timed_out(Time now) override { return woken(now); }
  bool woken(Time now) override;

  SendAllowance allowance(Time now) override;
  SendRate line() const { return settings_.line; }
  CongestionSnapshot snapshot() const override;

 private:
  bool reacts() const { return rate_ < settings_.line; }
  void let_pass(Time now);
  void let_alpha_fall(Time now);
  void decrease(Time now);
  void increase();
  void begin_recovery(Time now);

  const CongestionSettings settings_;
  SendRate rate_;    // R_C
  SendRate target_;  // R_T
  double alpha_ = 1;
  bool never_marked_ = true;
  Time alpha_falls_{};              // if no notification comes until then
  Time may_decrease_{};             // not before
  bool mark_waits_ = false;         // a notification came before that
  Time timer_{};                    // the next increase by time
  std::uint64_t bytes_ = 0;         // since the last increase by bytes
  std::uint32_t timer_events_ = 0;  // T: increases by time since the last decrease
  std::uint32_t byte_events_ = 0;   // BC: by bytes
  std::uint64_t marks_ = 0;
};

}  // namespace urnic::transport
