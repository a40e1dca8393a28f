// Those who are told what happens to a device and its port (IBTA 11.6.3, unaffiliated events): the contexts
// that have it open.
#pragma once

#include <cstdint>
#include <vector>

namespace urnic::engine {

class EventPipe;
class Notifications;

// The values are those of ibv_event_type.
enum class DeviceEvent : std::uint32_t { port_active = 9, port_error = 10, gid_change = 18 };

// Engine thread only.
class DeviceEvents {
 public:
  explicit DeviceEvents(Notifications& notifications) : notifications_(notifications) {}

  // The pipe is told from now on. It outlives its being here.
  void add(EventPipe& listener) { listeners_.push_back(&listener); }
  void remove(EventPipe& listener) { std::erase(listeners_, &listener); }

  // A program that has not read what it was told before, so that its pipe is full, is not told: a link may be
  // cut and restored for ever.
  void raise(DeviceEvent event);

 private:
  Notifications& notifications_;
  std::vector<EventPipe*> listeners_;
};

}  // namespace urnic::engine
