// How an established connection ends (IBTA 12.9.7), and how it is given up in any state.
#pragma once

#include "device_model/cm/core.hpp"

namespace urnic::cm {

class Disconnection {
 public:
  explicit Disconnection(Core& core) : core_(core) {}

  Result disconnect(CommunicationId id, Time now);
  // The peer is known to have forgotten the connection: ends it as if the user had asked.
  void begin_if_established(Connection& connection, Time now);
  // The user gives the connection up, whatever its state.
  void destroy(Connection& connection, Time now);
  void receive(const wire::mad::Dreq& message, const Arrival& arrival);
  void receive(const wire::mad::Drep& message, const Arrival& arrival);
  // The DREQ's last repetition has no answer.
  void request_spent(Connection& connection, Time now);

 private:
  void answer(Connection& connection, Time now);
  void disconnected(Connection& connection, Disconnected how, Time now);

  Core& core_;
};

}  // namespace urnic::cm
