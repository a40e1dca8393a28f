// Congestion control of the data that a responder sends: responses to READs. Nobody acknowledges them, so
// only notifications tell of congestion: DCQCN's rate, whatever the requester's algorithm is.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device_model/transport/congestion/dcqcn.hpp"
#include "device_model/transport/send_pace.hpp"

namespace urnic::transport {

class ResponseControl {
 public:
  ResponseControl(const CongestionSettings& settings, Time now) : control_(settings) {
    pace_.let_together(settings.burst);
    start(now);
  }
  // Nothing is known of the path.
  void start(Time now) {
    control_.start(0, now);
    pace_.allow(SendRate::unlimited());
  }

  void marked(Time now) {
    control_.marked(now);
    pace_.allow(control_.allowance(now).rate);
  }

  // Whether a packet may leave now; if not, it may at `free_at`.
  bool may_send(Time now) const { return pace_.may_send(now); }
  Time free_at() const { return pace_.free_at(); }
  // How many packets of `bytes` may leave together; at least one.
  std::uint32_t together(std::uint32_t packets, std::size_t bytes) const {
    if (!pace_.is_limited()) return packets;
    return std::clamp(static_cast<std::uint32_t>(pace_.burst() / bytes), 1u, packets);
  }
  // They have left.
  void sent(std::uint32_t packets, std::size_t bytes, Time now) {
    control_.sent(packets * bytes, now);
    const SendRate rate = control_.allowance(now).rate;
    // At the rate of the line the port paces.
    pace_.allow(rate < control_.line() ? rate : SendRate::unlimited());
    if (pace_.is_limited()) pace_.sent(now, packets * bytes);
  }

 private:
  Dcqcn control_;
  SendPace pace_;
};

}  // namespace urnic::transport
