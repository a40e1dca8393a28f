// What a QP's requester and responder both look at. The QueuePair owns it; both halves hold a reference.
#pragma once

#include "device_model/transport/notification_point.hpp"
#include "device_model/transport/peer_port.hpp"
#include "device_model/transport/queue_pair_config.hpp"
#include "device_model/transport/selective_ack_offers.hpp"

namespace urnic::transport {

struct SharedState {
  const QpConfig config;
  RecoverySettings recovery = config.recovery;  // in force now, at the responder
  QpState state = QpState::reset;
  QpParameters parameters;
  // Set by either half, after its error completion or NAK, at an error that takes the QP to the error state.
  // The QueuePair looks at it after each call, enters the error state and flushes both halves.
  bool failed = false;
  SelectiveAckOffers offers = {};
  PeerPort peer_port = {};
  NotificationPoint notifications = {};
};

}  // namespace urnic::transport
