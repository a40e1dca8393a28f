// What the connection manager asks of its surroundings.
#pragma once

#include "device_model/cm/path.hpp"
#include "device_model/transport/time.hpp"
#include "wire/identifiers.hpp"
#include "wire/mad/cm_codes.hpp"
#include "wire/mad/identifiers.hpp"
#include "wire/mad/mad_header.hpp"
#include "wire/mad/timeout_code.hpp"

namespace urnic::cm {

using transport::Nanoseconds;
using transport::Time;

struct DeviceDescription {
  wire::mad::Guid ca_guid;                                  // the node GUID
  wire::mad::TimeoutCode ack_delay{15};                     // the device's local_ca_ack_delay
  wire::mad::MtuCode mtu = wire::mad::MtuCode::bytes_4096;  // the largest that a connection may have
};

// Must not call the manager from these.
class Host {
 public:
  // Sends from queue pair 1 of the device. The MAD may be lost: the manager repeats what wants an answer.
  virtual void send(DeviceIndex device, const GsiAddress& to, const wire::mad::Mad& mad) = 0;
  // ConnectionManager::expire is to be called at `deadline`; replaces the deadline given before.
  virtual void wake_at(Time deadline) = 0;
  virtual DeviceDescription describe(DeviceIndex device) const = 0;
  // Whether `gid` is in the device's GID table.
  virtual bool has_gid(DeviceIndex device, const wire::Gid& gid) const = 0;

 protected:
  ~Host() = default;
};

}  // namespace urnic::cm
