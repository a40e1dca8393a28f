// The side that sends the REQ (IBTA 12.9.5).
#pragma once

#include "device_model/cm/core.hpp"
#include "device_model/cm/disconnection.hpp"

namespace urnic::cm {

class ActiveSide {
 public:
  ActiveSide(Core& core, Disconnection& disconnection) : core_(core), disconnection_(disconnection) {}

  Result connect(const ConnectParameters& parameters, Time now, CommunicationId& id);
  Result ready(CommunicationId id);
  void receive(const wire::mad::Rep& message, const Arrival& arrival);
  // The REQ's last repetition has no answer.
  void request_spent(Connection& connection);

 private:
  void repeated(const wire::mad::Rep& message, const Arrival& arrival);
  void accept(Connection& connection, const wire::mad::Rep& message);

  Core& core_;
  Disconnection& disconnection_;
};

}  // namespace urnic::cm
