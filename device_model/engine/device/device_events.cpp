#include "device_model/engine/device/device_events.hpp"

#include "device_model/engine/completion/notifications.hpp"

namespace urnic::engine {

namespace {

constexpr std::uint64_t kPort = 1;      // the only port: the element of these events
constexpr std::uint32_t kNoSource = 0;  // nothing takes them back

}  // namespace

void DeviceEvents::add(EventPipe& listener) { listeners_.push_back(&listener); }

void DeviceEvents::remove(EventPipe& listener) { std::erase(listeners_, &listener); }

void DeviceEvents::raise(DeviceEvent event) {
  for (EventPipe* const listener : listeners_) {
    if (listener->has_backlog()) continue;
    listener->push(kNoSource, kPort, static_cast<std::uint32_t>(event));
    notifications_.wrote_to(*listener);
  }
}

}  // namespace urnic::engine
