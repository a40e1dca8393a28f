// REJ and MRA: a request that is refused, and one whose answer takes long (IBTA 12.6.6, 12.6.7).
#pragma once

#include "device_model/cm/core.hpp"

namespace urnic::cm {

class Rejection {
 public:
  explicit Rejection(Core& core) : core_(core) {}

  Result reject(CommunicationId id, const RejectParameters& parameters, Time now);
  void receive(const wire::mad::Rej& message, const Arrival& arrival);
  void receive(const wire::mad::Mra& message, const Arrival& arrival);

 private:
  Connection* rejected(const wire::mad::Rej& message);

  Core& core_;
};

}  // namespace urnic::cm
