// The rate of TIMELY (Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM 2015,
// algorithm 1): it rises while round trips become shorter or are short, and falls by their gradient while
// they become longer, or by how far they exceed a limit.
#pragma once

#include "device_model/transport/congestion/congestion_control.hpp"

namespace urnic::transport {

class Timely final : public CongestionControl {
 public:
  explicit Timely(const CongestionSettings& settings) : settings_(settings) {}

  void start(std::uint32_t packet_bytes, Time now) override;
  void sent(std::uint64_t, Time) override {}
  void acknowledged(const AcknowledgedBytes& acknowledged, Time now) override;
  // Marks and losses are no measurements.
  void marked(Time) override { ++marks_; }
  void lost(Time) override {}
  bool timed_out(Time now) override { return woken(now); }
  bool woken(Time now) override;

  SendAllowance allowance(Time) override { return {.rate = rate_, .measured = segment()}; }
  CongestionSnapshot snapshot() const override;

 private:
  std::uint64_t segment() const;
  void increase();
  void decrease(double factor);

  const CongestionSettings settings_;
  SendRate rate_;
  Nanoseconds shortest_{0};
  Nanoseconds previous_{0};
  double difference_ = 0;        // smoothed, ns
  std::uint32_t increases_ = 0;  // in a row
  Time next_update_{};           // a round trip after the last one
  std::uint64_t marks_ = 0;
};

}  // namespace urnic::transport
