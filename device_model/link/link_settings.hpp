// Settings of one direction of a link. The defaults are a perfect wire: frames pass unchanged and at once.
#pragma once

#include <cstdint>

#include "device_model/transport/time.hpp"

namespace urnic::link {

// Probabilities are from 0 to 1, per packet.
struct LinkSettings {
  double rate_gbps = 0;             // 10^9 bits a second; 0: no limit, and no queue
  transport::Nanoseconds delay{0};  // one way, behind the queue
  // Added to the delay, evenly distributed from 0 to this. Never reorders: a packet that would overtake
  // waits.
  transport::Nanoseconds jitter{0};
  // Packets that may wait for a line with a rate; more are dropped. A device paces its own requests to its
  // line, so only responses can fill the queue towards the switch.
  std::uint32_t queue_packets = 1024;

  double loss = 0;  // independent, per packet
  // Gilbert-Elliott: each packet may begin a burst, in which packets are lost with `burst_loss`, or end it. A
  // burst lasts 1 / burst_end packets on average.
  double burst_start = 0;
  double burst_end = 0.125;
  double burst_loss = 1;

  double duplicate = 0;
  // A reordered packet is held until `reorder_packets` later ones have passed, at most for `reorder_hold`.
  double reorder = 0;
  std::uint32_t reorder_packets = 3;
  transport::Nanoseconds reorder_hold{100'000};
  double corrupt = 0;  // one bit is inverted

  // ECN-capable packets (ECT) that find this many waiting are marked "congestion experienced"; 0: none is
  // marked. Other packets pass unmarked; only the queue's end limits them.
  std::uint32_t ecn_threshold_packets = 0;
  // Random early marking, by the bytes of frames that a packet finds in the queue (random_early_marking.hpp):
  // up to `ecn_min_bytes` none is marked, from there to `ecn_max_bytes` the probability rises from 0 to
  // `ecn_probability`, and above all are marked. 0 as the largest: none is.
  std::uint32_t ecn_min_bytes = 0;
  std::uint32_t ecn_max_bytes = 0;
  double ecn_probability = 0;

  // Priority flow control (back_pressure.hpp, pause.hpp). Towards a device: a queue above `pfc_xoff_bytes`
  // pauses the devices that feed it, until it has shrunk to `pfc_xon_bytes`. From a device: a paused device
  // sends nothing.
  bool pfc = false;
  std::uint32_t pfc_xoff_bytes = 100'000;
  std::uint32_t pfc_xon_bytes = 50'000;

  std::uint64_t seed = 1;

  friend bool operator==(const LinkSettings&, const LinkSettings&) = default;
};

// Whether the link changes anything: a perfect wire does not, whatever the seed.
constexpr bool is_impaired(const LinkSettings& settings) {
  return settings.rate_gbps > 0 || settings.delay.count() > 0 || settings.jitter.count() > 0 ||
         settings.loss > 0 || settings.burst_start > 0 || settings.duplicate > 0 || settings.reorder > 0 ||
         settings.corrupt > 0 || settings.pfc;
}

// All packets, or some, arrive later than they are sent.
constexpr bool takes_time(const LinkSettings& settings) {
  return settings.rate_gbps > 0 || settings.delay.count() > 0 || settings.jitter.count() > 0 ||
         settings.reorder > 0 || settings.pfc;
}

// All that happens to a packet is that it is lost, if that: others arrive at once, and unchanged.
constexpr bool loses_at_most(LinkSettings settings) {
  settings.loss = 0;
  settings.burst_start = 0;
  return !is_impaired(settings);
}

// There is no impairment but independent random loss, if any: one direction of a link may lose nothing.
constexpr bool only_loses(LinkSettings settings) {
  settings.loss = 0;
  return !is_impaired(settings);
}

}  // namespace urnic::link
