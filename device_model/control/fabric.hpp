// All that the device process runs: one engine, one switch, the devices on it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

#include "device_model/control/configuration.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/engine/engine.hpp"
#include "device_model/link/switch.hpp"
#include "device_model/transport/memory_access.hpp"

namespace urnic::control {

// A device with what only the control thread knows of it.
struct ServedDevice {
  std::uint32_t index = 0;  // in configuration order
  DeviceSettings settings;
  std::array<std::uint8_t, 8> node_guid{};  // wire order
  std::unique_ptr<engine::Device> device;

  // Objects of all contexts, against the limits.
  std::uint32_t queue_pairs = 0;
  std::uint32_t completion_queues = 0;
  std::uint32_t shared_receive_queues = 0;
  std::uint32_t memory_regions = 0;
  std::uint32_t memory_windows = 0;
  std::uint32_t protection_domains = 0;
  std::uint32_t address_handles = 0;
  std::map<wire::Gid, std::uint32_t> multicast_groups;  // those with members, and how many
  std::uint32_t multicast_attachments = 0;
  std::uint32_t next_pd = 1;
};

class Fabric {
 public:
  // Makes the devices. Throws what the parts throw.
  explicit Fabric(const Configuration& configuration);
  ~Fabric();
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;

  // Starts the engine's thread. Until then `engine().execute` runs on the caller's.
  void start() { engine_.start(); }

  engine::Engine& engine() { return engine_; }
  link::Switch& wires() { return switch_; }
  const link::Switch& wires() const { return switch_; }
  const std::vector<std::unique_ptr<ServedDevice>>& devices() const { return devices_; }

  // Brings the device's link to what its settings say. On the engine's thread once that runs.
  void configure_link(const ServedDevice& served);

  // The Ethernet address of the device that has `gid`: what neighbour discovery finds on a real network.
  std::optional<wire::MacAddress> resolve(const wire::Gid& gid) const;

 private:
  // Order matters: devices go before the switch that they are attached to, both after the engine has stopped.
  link::Switch switch_;
  engine::Engine engine_;
  std::vector<std::unique_ptr<ServedDevice>> devices_;
};

}  // namespace urnic::control
