// The contexts that have a device open; they get its unaffiliated asynchronous events (IBTA 11.6.3).
#pragma once

#include <cstdint>
#include <vector>

namespace urnic::engine {

class EventPipe;
class Notifications;

// The values are those of ibv_event_type.
enum class DeviceEvent : std::uint32_t {
  port_active = 9,
  port_error = 10,
  lid_change = 11,
  pkey_change = 12,
  manager_change = 13,
  client_reregister = 17,
  gid_change = 18,
};

// Engine thread only.
class DeviceEvents {
 public:
  explicit DeviceEvents(Notifications& notifications) : notifications_(notifications) {}

  // From now on `listener` gets events. It outlives its registration.
  void add(EventPipe& listener);
  void remove(EventPipe& listener);

  // Skips a program whose pipe is full: cutting and restoring a link forever must not fill memory.
  void raise(DeviceEvent event);

 private:
  Notifications& notifications_;
  std::vector<EventPipe*> listeners_;
};

}  // namespace urnic::engine
