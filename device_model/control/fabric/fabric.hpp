// All that the device process runs: engines, each with a switch and its devices, and the trunks between the
// switches.
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

#include "device_model/control/fabric/capacity.hpp"
#include "device_model/control/fabric/configuration.hpp"
#include "device_model/control/fabric/host_routes.hpp"
#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/fabric/multicast_members.hpp"
#include "device_model/control/fabric/stations.hpp"
#include "device_model/control/fabric/udp_wire.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/engine/engine.hpp"
#include "device_model/engine/management/management_queue_pair.hpp"
#include "device_model/engine/management/management_traffic.hpp"
#include "device_model/link/frames/lan_port.hpp"
#include "device_model/link/neighbours.hpp"
#include "device_model/link/switch.hpp"
#include "device_model/link/trunk.hpp"
#include "device_model/link/trunk_ports.hpp"
#include "device_model/transport/memory_access.hpp"

namespace urnic::control {

class XrcDomain;

// Identifies a file under any name.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;
};

// What the control thread counts of a device's management datagrams (docs/counters.md).
struct GsiCounters {
  std::uint64_t unclaimed = 0;    // rx_mads_unclaimed: nobody takes them, and they want no answer
  std::uint64_t unsupported = 0;  // rx_mads_unsupported: Get and Set that nobody takes: answered so
  std::uint64_t not_sent = 0;     // tx_mad_discards: too many waited for the port
};

// A device, with the control thread's data about it.
struct ServedDevice {
  std::uint32_t index = 0;  // in configuration order
  DeviceSettings settings;
  std::array<std::uint8_t, 8> node_guid{};  // wire order
  std::uint32_t largest_mtu = 0;            // path MTU that the configuration allows, bytes
  std::unique_ptr<UdpWire> udp;             // null: on the built-in switch
  std::unique_ptr<engine::Device> device;
  std::unique_ptr<engine::ManagementQueuePair> management;  // its queue pair 1
  GsiCounters gsi;

  // Counted over all contexts.
  Capacity queue_pairs{limits::kMaxQp};
  Capacity completion_queues{limits::kMaxCq};
  Capacity shared_receive_queues{limits::kMaxSrq};
  Capacity memory_regions{limits::kMaxMr};
  Capacity memory_windows{limits::kMaxMw};
  Capacity protection_domains{limits::kMaxPd};
  Capacity address_handles{limits::kMaxAh};
  Capacity flows{limits::kMaxFlows};
  Capacity flow_counters{limits::kMaxFlowCounters};
  MulticastMembers multicast;
  Capacity device_memory{limits::kMaxDeviceMemory};  // bytes
  Capacity xrc_domains{limits::kMaxXrcd};            // a domain counts for each context that opened it
  std::uint32_t next_pd = 1;
  std::uint32_t next_cq = 1;
  // Shared domains, while any context has them open.
  std::map<FileIdentity, std::weak_ptr<XrcDomain>> xrc_domains_by_file;
};

// An engine with its part of the fabric.
struct EngineUnit {
  EngineUnit(std::uint32_t unit_number, const engine::EngineConfig& config)
      : number(unit_number), trunk_ports(frame_switch), engine(config) {
    engine.set_management(management);
  }

  const std::uint32_t number;          // from 0
  std::vector<ServedDevice*> devices;  // its devices, in configuration order
  // The order matters: the engine's last round uses the members before it.
  std::vector<std::unique_ptr<link::StationPort>> stations;
  link::Switch frame_switch;
  link::TrunkPorts trunk_ports;
  engine::ManagementTraffic management;
  engine::Engine engine;
};

class Fabric {
 public:
  // Makes the devices, and the engines, at most one per device; devices are assigned to engines in turn.
  // Throws what their constructors throw. `lan` is the LAN's carrier if it is open already.
  explicit Fabric(const Configuration& configuration, std::unique_ptr<link::FrameCarrier> lan = nullptr);
  ~Fabric();
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;

  // Starts the engines' threads. Before, `execute` runs on the caller's thread.
  void start();

  // The device's engine, and that engine's switch.
  engine::Engine& engine(const ServedDevice& served) { return unit(served).engine; }
  link::Switch& switch_of(const ServedDevice& served) { return unit(served).frame_switch; }
  const link::Switch& switch_of(const ServedDevice& served) const { return unit(served).frame_switch; }
  EngineUnit& unit_of(const ServedDevice& served) { return unit(served); }
  std::uint32_t engines() const { return static_cast<std::uint32_t>(units_.size()); }
  const std::vector<std::unique_ptr<EngineUnit>>& units() const { return units_; }
  // Runs `task` on each engine, one after the other, as Engine::execute does.
  void execute_on_all(const std::function<void(EngineUnit&)>& task);
  // Sums over all engines (engine.hpp).
  std::uint64_t activity() const;
  transport::Nanoseconds processor_time() const;

  const std::vector<std::unique_ptr<ServedDevice>>& devices() const { return devices_; }

  // The programs' quotas of this process's resources.
  Quotas& quotas() { return quotas_; }

  // Applies the device's settings to its link. On the engine's thread once that runs.
  void configure_link(const ServedDevice& served);

  // Whether the device's link is up.
  bool link_is_up(const ServedDevice& served);

  // The processes that are ports of a switch beside its devices.
  Stations& stations() { return stations_; }

  // The LAN that the switch is joined to; null: none.
  link::LanPort* lan() { return lan_.get(); }
  const LanSettings& lan_settings() const { return lan_settings_; }
  // To be called when a device's GIDs have changed.
  void addresses_changed();
  // The device's largest path MTU is one that fits into IP packets of `interface_mtu` bytes.
  static void fit_mtu(ServedDevice& served, std::uint32_t interface_mtu);

  // The device with `gid` on the built-in switch: a device of this process, or else a neighbour, which may be
  // asked for only now.
  link::Neighbour find(const wire::Gid& gid) const;
  // Where `from` sends what is for `gid`, a single device's.
  link::Neighbour find(const ServedDevice& from, const wire::Gid& gid) const;
  // The same, if it is known.
  std::optional<wire::MacAddress> resolve(const wire::Gid& gid) const;
  std::optional<wire::MacAddress> resolve(const ServedDevice& from, const wire::Gid& gid) const;
  // The address of this host from which its kernel would send to `destination`; asked only for UDP wires.
  // Empty: it has no route, or there is no such wire. `interface` is that of a link-local destination, or 0.
  std::optional<wire::Gid> host_source(const wire::Gid& destination, std::uint32_t interface) const;
  // Finds devices outside of this process; asked in the order of addition. Outlives its use.
  void add_neighbours(link::Neighbours& neighbours) { neighbours_.push_back(&neighbours); }

 private:
  EngineUnit& unit(const ServedDevice& served) const { return *units_[served.index % units_.size()]; }
  void connect_engines();
  void join_lan(std::unique_ptr<link::FrameCarrier> carrier);
  void groups_changed(ServedDevice& served, const wire::Gid& group, bool joined);
  void add_device(const DeviceSettings& settings);
  void connect_wire(ServedDevice& served);

  Quotas quotas_;
  std::optional<HostRoutes> host_routes_;
  LanSettings lan_settings_;
  std::unique_ptr<link::LanPort> lan_;
  // The order matters: devices are destroyed before the switches that they are attached to, and all after the
  // engines have stopped.
  std::vector<std::unique_ptr<link::Trunk>> trunks_;  // from engine i to engine j: i * engines() + j
  std::vector<std::unique_ptr<EngineUnit>> units_;
  std::vector<std::unique_ptr<ServedDevice>> devices_;
  std::vector<link::Neighbours*> neighbours_;
  Stations stations_{*this};
};

}  // namespace urnic::control
