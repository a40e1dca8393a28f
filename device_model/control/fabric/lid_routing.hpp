// What the subnet manager has written of the built-in InfiniBand fabric, for the engine that carries its
// data: the switches' tables, which links take data, and the LIDs, GIDs and P_Keys of the devices' ports.
// Programs get the events of what has changed of their port.
#pragma once

#include <cstdint>
#include <vector>

#include "device_model/control/fabric/port_events.hpp"
#include "device_model/control/fabric/served_device.hpp"
#include "device_model/engine/device/device_config.hpp"
#include "device_model/link/lid_routes.hpp"
#include "device_model/subnet/node.hpp"

namespace urnic::control {

struct EngineUnit;
class Fabric;

class LidRouting {
 public:
  // `fabric` has its subnet and its devices, and outlives it.
  explicit LidRouting(const Fabric& fabric);

  // Hands on what has changed since the last call; waits for the end of the engine's round, if so.
  void follow();
  // The next `follow` hands on all of this node.
  void look_again(subnet::NodeIndex node);

 private:
  struct Change {
    std::uint32_t number = 0;
    link::LidNode node;
    ServedDevice* device = nullptr;  // null: a switch, or a host without a device
    engine::LocalLids lids;
    std::vector<engine::LocalGid> gids;
    bool has_new_gids = false;
    std::vector<std::uint16_t> pkeys;
    std::vector<engine::DeviceEvent> events;
  };

  Change change_of(subnet::NodeIndex number);
  void apply(Change& change) const;

  const Fabric& fabric_;
  EngineUnit& unit_;
  std::vector<std::uint32_t> seen_;           // revisions, by node
  std::vector<std::vector<wire::Gid>> gids_;  // by node
  std::vector<ManagedPort> managed_;          // by node
};

}  // namespace urnic::control
