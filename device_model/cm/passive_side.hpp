// The side that gets the REQ (IBTA 12.9.6).
#pragma once

#include <optional>

#include "device_model/cm/core.hpp"
#include "device_model/cm/disconnection.hpp"

namespace urnic::cm {

class PassiveSide {
 public:
  PassiveSide(Core& core, Disconnection& disconnection) : core_(core), disconnection_(disconnection) {}

  Result reply(CommunicationId id, const ReplyParameters& parameters, Time now);
  Result establish(CommunicationId id);
  void receive(const wire::mad::Req& message, const Arrival& arrival);
  void receive(const wire::mad::Rtu& message, const Arrival& arrival);
  // The REP's last repetition has no answer.
  void reply_spent(Connection& connection);

 private:
  // True: the request is answered, or needs no answer.
  bool known(const wire::mad::Req& message, const Arrival& arrival);
  bool unacceptable(const wire::mad::Req& message, const Arrival& arrival);
  void repeated(const wire::mad::Req& message, const Connection& connection, const Arrival& arrival);
  Connection& add(const wire::mad::Req& message, const Arrival& arrival);
  void tell_user(Connection& connection, const wire::mad::Req& message, const Arrival& arrival);

  Core& core_;
  Disconnection& disconnection_;
};

}  // namespace urnic::cm
