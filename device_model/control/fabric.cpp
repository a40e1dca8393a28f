#include "device_model/control/fabric.hpp"

#include <algorithm>

#include "device_model/control/limits.hpp"

namespace urnic::control {

Fabric::Fabric(const Configuration& configuration)
    : engine_(engine::EngineConfig{.idle_spin = configuration.idle_spin}) {
  for (const DeviceSettings& settings : configuration.devices) {
    auto served = std::make_unique<ServedDevice>();
    served->index = static_cast<std::uint32_t>(devices_.size());
    served->settings = settings;
    served->node_guid = modified_eui64(settings.mac);
    served->device =
        std::make_unique<engine::Device>(engine::DeviceConfig{.name = settings.name,
                                                              .mac = settings.mac,
                                                              .gids = settings.gids,
                                                              .max_qp = limits::kMaxQp,
                                                              .max_memory_keys = limits::kMaxMemoryKeys},
                                         engine_, switch_);
    engine_.add_device(*served->device);
    devices_.push_back(std::move(served));
  }
}

Fabric::~Fabric() { engine_.stop(); }

std::optional<wire::MacAddress> Fabric::resolve(const wire::Gid& gid) const {
  for (const auto& served : devices_) {
    const auto& gids = served->settings.gids;
    if (std::find(gids.begin(), gids.end(), gid) != gids.end()) return served->settings.mac;
  }
  return {};
}

}  // namespace urnic::control
