// Which congestion control a queue pair uses, and its settings. Chosen per device or QP. The defaults are the
// published ones where there are any.
#pragma once

#include <cstdint>

#include "device_model/transport/send_rate.hpp"
#include "device_model/transport/time.hpp"

namespace urnic::transport {

enum class CongestionAlgorithm : std::uint8_t {
  off,
  dcqcn,  // by congestion notifications: Zhu et al., SIGCOMM 2015
  rtt,    // by round trips, for lossy links: Kumar et al. ("Swift"), SIGCOMM 2020
  timely  // by the gradient of round trips: Mittal et al., SIGCOMM 2015
};

// The names in parentheses are ConnectX's.
struct DcqcnSettings {
  double alpha_gain = 1.0 / 256;          // g
  Nanoseconds alpha_interval{55'000};     // alpha falls after so long without a notification (dce_tcp_rtt)
  Nanoseconds decrease_interval{50'000};  // at most one decrease in this time (rate_reduce_monitor_period)
  Nanoseconds increase_interval{55'000};  // an increase by the timer (rpg_time_reset)
  std::uint64_t increase_bytes = 10'000'000;  // an increase by the byte counter (rpg_byte_reset); 0: none
  std::uint32_t fast_recoveries = 5;          // increases before the target rises (rpg_threshold)
  SendRate additive = SendRate::mbps(40);     // (rpg_ai_rate)
  SendRate hyper = SendRate::mbps(400);       // (rpg_hai_rate)
  double most_decrease = 0.5;                 // of the rate, in one decrease (rpg_min_dec_fac)
  bool clamp_target = false;                  // each decrease lowers the target, too (clamp_tgt_rate)
  double initial_alpha = 1;                   // (initial_alpha_value)
};

struct RttSettings {
  Nanoseconds headroom{25'000};       // the target is the shortest round trip and this
  double additive = 1;                // packets that the window grows in a round trip
  double decrease = 0.8;              // beta: of the part of the delay that exceeds the target
  double most_decrease = 0.5;         // max_mdf: of the window, in one round trip
  double least_window = 0.01;         // packets; below one packet they are paced
  Nanoseconds flow_scaling{100'000};  // fs_range: most that is added to the target of a small window
  double scaling_from = 0.1;          // fs_min_cwnd: windows below get all of it
  double scaling_to = 100;            // fs_max_cwnd: windows above get none of it
  std::uint32_t timeouts = 5;         // after so many in a row the window is the least
  bool loss_is_congestion = false;    // a loss counts although the round trips are short
};

struct TimelySettings {
  Nanoseconds low{50'000};
  Nanoseconds high{500'000};
  double smoothing = 0.875;                // alpha: weight of the newest difference
  double decrease = 0.8;                   // beta
  SendRate additive = SendRate::mbps(10);  // delta
  std::uint32_t increases = 5;             // N: after so many in a row it rises N times as fast
};

struct CongestionSettings {
  CongestionAlgorithm algorithm = CongestionAlgorithm::off;
  SendRate line = SendRate::gbps(100);  // a QP begins at this rate, and never exceeds it
  SendRate least = SendRate::mbps(10);  // no rate falls below (rpg_min_rate)
  // Packets leave together that the rate sends in this time, which should be less than a notification takes.
  Nanoseconds burst{4'000};
  // Slow restart: after a timeout, or when it was idle so long, a QP begins again at `restart`.
  bool slow_restart = true;
  Nanoseconds idle{10'000'000};
  SendRate restart = SendRate::gbps(1);
  // Notification point: the least time between two notifications of a QP (min_time_between_cnps).
  Nanoseconds notification_interval{50'000};
  bool notifies_by_peer = false;        // the interval holds for all QPs of the device with one peer
  std::uint8_t notification_dscp = 48;  // (cnp_dscp)
  DcqcnSettings dcqcn{};
  RttSettings rtt{};
  TimelySettings timely{};
};

// Its senders slow down when packets are marked, so links may mark theirs (ECT, RFC 3168, section 5).
constexpr bool reacts_to_marks(const CongestionSettings& settings) {
  return settings.algorithm == CongestionAlgorithm::dcqcn || settings.algorithm == CongestionAlgorithm::rtt;
}

constexpr bool is_on(const CongestionSettings& settings) {
  return settings.algorithm != CongestionAlgorithm::off;
}

}  // namespace urnic::transport
