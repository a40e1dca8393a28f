// The requester of an RC queue pair (IBTA 9.7.2 to 9.7.3, 9.7.5, 9.7.6): turns send requests into request
// packets, takes responses, completes requests in order, and recovers from loss.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "device_model/transport/host.hpp"
#include "device_model/transport/shared_state.hpp"
#include "device_model/transport/time.hpp"

namespace urnic::transport {

class Requester {
 public:
  explicit Requester(SharedState& shared);
  ~Requester();
  Requester(const Requester&) = delete;
  Requester& operator=(const Requester&) = delete;

  // Forgets everything (QP to reset).
  void reset();
  // First PSN is parameters.send_psn (QP enters RTS from RTR).
  void start(Time now);
  // parameters changed while running (QP stays in or returns to RTS).
  void parameters_changed(Time now);

  // The sender policy from the next packet on, or from when everything under way is acknowledged. Allocates.
  void use(const RecoverySettings& settings);

  void doorbell(Time now);
  // A response packet: ACK, NAK, RNR NAK, read response, atomic acknowledge.
  void receive(const InboundPacket& packet, Time now);
  std::uint32_t pump(Time now, std::uint32_t packets);
  bool wants_pump() const;
  // Something must be sent again: `pump_again` sends that, at most `packets`, and nothing new.
  bool must_send_again() const;
  std::uint32_t pump_again(Time now, std::uint32_t packets);
  std::optional<Time> deadline() const;
  void on_timer(Time now);
  void memory_failed(const AccessTag& tag, Time now);

  // Completes everything taken and everything posted with `flushed` (QP in error).
  void flush();
  // No send request taken is incomplete (for sqd).
  bool idle() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace urnic::transport
