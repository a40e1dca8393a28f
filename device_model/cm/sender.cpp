#include "device_model/cm/sender.hpp"

namespace urnic::cm {

void Sender::send(DeviceIndex device, const GsiAddress& to, Message kind, const wire::mad::Mad& mad,
                  bool again) {
  Counters& counters = counters_[device];
  ++counters.sent[static_cast<std::size_t>(kind)];
  if (again) ++counters.repeated[static_cast<std::size_t>(kind)];
  host_.send(device, to, mad);
}

Counters Sender::counters(DeviceIndex device) const {
  const auto found = counters_.find(device);
  return found == counters_.end() ? Counters{} : found->second;
}

}  // namespace urnic::cm
