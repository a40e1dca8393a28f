// What the connection manager tells, made into events of identifiers.
#pragma once

#include <cstdint>

#include "device_model/cm/connection_manager.hpp"
#include "device_model/control/rdma_cm/broadcast_groups.hpp"
#include "device_model/control/rdma_cm/identifiers.hpp"

namespace urnic::control::rdma_cm {

// Has the connection manager and the identifiers, because each needs the other.
class ConnectionEvents final : private cm::User {
 public:
  // Fabric, host and groups outlive it.
  ConnectionEvents(Fabric& fabric, cm::Host& host, BroadcastGroups& broadcast, Clock now,
                   const cm::Settings& settings)
      : broadcast_(broadcast),
        connections_(host, *this, settings),
        identifiers_(fabric, connections_, std::move(now), settings.seed) {}

  Identifiers& identifiers() { return identifiers_; }
  cm::ConnectionManager& connections() { return connections_; }

 private:
  cm::Decision requested(const cm::RequestEvent& event) override;
  void replied(const cm::ReplyEvent& event) override;
  void established(cm::CommunicationId id) override;
  void rejected(const cm::RejectEvent& event) override;
  void unanswered(cm::CommunicationId id, cm::Unanswered message) override;
  void disconnect_requested(cm::CommunicationId id) override;
  void disconnected(cm::CommunicationId id, cm::Disconnected how) override;
  void time_wait_over(cm::CommunicationId id) override;
  cm::Decision sidr_requested(const cm::SidrRequestEvent& event) override;
  void sidr_replied(const cm::SidrReplyEvent& event) override;

  // The identifier whose connection it is, if that is in `state`.
  Id* find(cm::CommunicationId connection, IdState state);
  void end_connection(cm::CommunicationId connection, int status);

  BroadcastGroups& broadcast_;
  cm::ConnectionManager connections_;
  Identifiers identifiers_;
};

}  // namespace urnic::control::rdma_cm
