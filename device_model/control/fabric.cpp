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
                                                              .max_memory_keys = limits::kMaxMemoryKeys,
                                                              .number = served->index},
                                         engine_, switch_);
    engine_.add_device(*served->device);
    configure_link(*served);
    devices_.push_back(std::move(served));
  }
}

void Fabric::configure_link(const ServedDevice& served) {
  const link::LinkSettings& transmit = served.settings.transmit_link;
  const link::LinkSettings& receive = served.settings.receive_link;
  if (switch_.existing_link(served.index) == nullptr && !has_character(transmit) && !has_character(receive))
    return;
  link::Link& link = switch_.link(served.index);
  if (link.channel(link::Direction::transmit).settings() != transmit)
    link.configure(link::Direction::transmit, transmit);
  if (link.channel(link::Direction::receive).settings() != receive)
    link.configure(link::Direction::receive, receive);
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
