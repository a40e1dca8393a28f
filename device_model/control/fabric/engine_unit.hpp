// An engine with its part of the fabric.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device_model/engine/engine.hpp"
#include "device_model/engine/management/management_traffic.hpp"
#include "device_model/link/frames/host_interface.hpp"
#include "device_model/link/frames/station_port.hpp"
#include "device_model/link/subnet_links/timed_subnet.hpp"
#include "device_model/link/switch.hpp"
#include "device_model/link/trunk_ports.hpp"

namespace urnic::control {

struct ServedDevice;

struct EngineUnit {
  EngineUnit(std::uint32_t unit_number, const engine::EngineConfig& config)
      : number(unit_number), trunk_ports(frame_switch), engine(config) {
    engine.set_management(management);
  }

  const std::uint32_t number;          // from 0
  std::vector<ServedDevice*> devices;  // its devices, in configuration order
  // The order matters: the engine's last round uses the members before it.
  std::vector<std::unique_ptr<link::StationPort>> stations;
  std::vector<std::unique_ptr<link::HostInterface>> host_interfaces;
  link::Switch frame_switch;
  std::unique_ptr<link::TimedSubnet> timed_subnet;  // null: packets take no time inside the InfiniBand fabric
  link::TrunkPorts trunk_ports;
  engine::ManagementTraffic management;
  engine::Engine engine;
};

}  // namespace urnic::control
