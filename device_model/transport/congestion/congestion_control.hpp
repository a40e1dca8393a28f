// A congestion control is a sender's policy. It is told what was sent, acknowledged, marked and lost, and
// answers how fast, and how far ahead of its acknowledgements, the sender may send. It knows no packet's
// contents, no socket and no clock. Which packets are sent again is the loss recovery's matter
// (recovery/loss_recovery.hpp).
//
// All that goes by time is worked out when the control is asked or told something: it has no timer.
#pragma once

#include <cstdint>
#include <memory>

#include "device_model/transport/congestion_settings.hpp"
#include "device_model/transport/congestion_snapshot.hpp"
#include "device_model/transport/time.hpp"

namespace urnic::transport {

// What one response has acknowledged for the first time.
struct AcknowledgedBytes {
  std::uint64_t bytes = 0;
  // Of the newest packet among them; zero: not known, because it was sent more than once or was answered
  // late.
  Nanoseconds round_trip{0};
  std::uint64_t under_way = 0;  // bytes, after it
};

class CongestionControl {
 public:
  virtual ~CongestionControl() = default;

  // Nothing is under way, and nothing is known of the path. `packet_bytes`: of a full packet.
  virtual void start(std::uint32_t packet_bytes, Time now) = 0;
  // A packet leaves, for the first time or again.
  virtual void sent(std::uint64_t bytes, Time now) = 0;
  virtual void acknowledged(const AcknowledgedBytes& acknowledged, Time now) = 0;
  // A congestion notification has come (IBTA A17.9).
  virtual void marked(Time now) = 0;
  // A packet was judged lost, by what arrived after it.
  virtual void lost(Time now) = 0;
  // The local ACK timer has run out. True: it begins again at a small rate (slow restart).
  virtual bool timed_out(Time now) = 0;
  // Something is to be sent after a long silence. True: likewise.
  virtual bool woken(Time now) = 0;

  virtual SendAllowance allowance(Time now) = 0;
  virtual CongestionSnapshot snapshot() const = 0;
};

// Null if it is off.
std::unique_ptr<CongestionControl> make_congestion_control(const CongestionSettings& settings);

}  // namespace urnic::transport
