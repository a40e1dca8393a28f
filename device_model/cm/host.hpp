// What the connection manager asks of its surroundings.
#pragma once

#include "device_model/cm/path.hpp"
#include "device_model/transport/time.hpp"
#include "wire/mad/identifiers.hpp"
#include "wire/mad/mad_header.hpp"
#include "wire/mad/timeout_code.hpp"

namespace urnic::cm {

using transport::Nanoseconds;
using transport::Time;

struct DeviceDescription {
  wire::mad::Guid ca_guid;               // the node GUID
  wire::mad::TimeoutCode ack_delay{15};  // the device's local_ca_ack_delay
};

// Must not call the manager from these.
class Host {
 public:
  // Sends from queue pair 1 of the device. The MAD may be lost: the manager repeats what wants an answer.
  virtual void send(DeviceIndex device, const GsiAddress& to, const wire::mad::Mad& mad) = 0;
  // ConnectionManager::expire is to be called at `deadline`; replaces the deadline given before.
  virtual void wake_at(Time deadline) = 0;
  virtual DeviceDescription describe(DeviceIndex device) const = 0;

 protected:
  ~Host() = default;
};

}  // namespace urnic::cm
