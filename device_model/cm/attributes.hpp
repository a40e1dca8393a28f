// The attributes of a connection's QP, for its transitions to INIT, RTR and RTS: what the handshake agreed
// on.
#pragma once

#include <cstdint>
#include <optional>

#include "device_model/cm/parameters.hpp"
#include "device_model/cm/path.hpp"
#include "wire/psn.hpp"

namespace urnic::cm {

// To INIT: also P_Key index 0 and port 1.
struct InitAttributes {
  bool remote_write = true;
  bool remote_read_and_atomic = false;  // with responder resources only
};

// To RTR. The path is the address vector.
struct RtrAttributes {
  Path path;
  wire::Qpn destination;
  wire::Psn receive_psn;  // the one that this side's REQ or REP carries
  // RC and XRC target only:
  std::uint8_t responder_resources = 0;  // max_dest_rd_atomic
  std::uint8_t min_rnr_timer = 0;
};

// To RTS.
struct RtsAttributes {
  wire::Psn send_psn;  // the one that the peer's REQ or REP carried
  // RC and XRC only:
  TimeoutCode timeout;
  // RC and XRC initiator only:
  std::uint8_t initiator_depth = 0;  // max_rd_atomic
  std::uint8_t retry_count = 0;
  std::uint8_t rnr_retry = 0;
};

// All that is known at the moment; what is empty is refused (EINVAL).
struct Attributes {
  ServiceType service = ServiceType::reliable;
  std::optional<InitAttributes> init;  // empty: rejected, disconnected or in time wait
  std::optional<RtrAttributes> rtr;    // empty also before the active side has its REP
  std::optional<RtsAttributes> rts;    // as rtr
};

struct Connection;
Attributes attributes_of(const Connection& connection);

}  // namespace urnic::cm
