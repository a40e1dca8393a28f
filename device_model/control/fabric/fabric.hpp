// All that the device process runs: engines, each with a switch and its devices, and the trunks between the
// switches.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device_model/control/fabric/configuration.hpp"
#include "device_model/control/fabric/device_interface.hpp"
#include "device_model/control/fabric/host_routes.hpp"
#include "device_model/control/fabric/private_memory.hpp"
#include "device_model/control/fabric/quotas.hpp"
#include "device_model/control/fabric/served_device.hpp"
#include "device_model/control/fabric/stations.hpp"
#include "device_model/link/neighbours.hpp"
#include "device_model/transport/time.hpp"

namespace urnic::engine {
class Engine;
}

namespace urnic::link {
class FrameCarrier;
class LanPort;
class Switch;
class Trunk;
}  // namespace urnic::link

namespace urnic::subnet {
class Network;
}

namespace urnic::control {

struct EngineUnit;
class DatagramLinks;
class LidRouting;

class Fabric {
 public:
  // Makes the devices, and the engines, at most one per device; devices are assigned to engines in turn.
  // Throws what their constructors throw. `lan` is the LAN's carrier if it is open already.
  Fabric(const Configuration& configuration, std::unique_ptr<link::FrameCarrier> lan);
  explicit Fabric(const Configuration& configuration);
  ~Fabric();
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;

  // Gives a device its own network interface. Before `start`.
  void add_interface(DeviceInterface opened);

  // Starts the engines' threads. Before, `execute` runs on the caller's thread.
  void start();

  // The device's engine, and that engine's switch.
  engine::Engine& engine(const ServedDevice& served);
  link::Switch& switch_of(const ServedDevice& served);
  const link::Switch& switch_of(const ServedDevice& served) const;
  EngineUnit& unit_of(const ServedDevice& served) { return unit(served); }
  // That of all InfiniBand devices, and of the switches between them.
  EngineUnit& infiniband_unit() const { return *units_.front(); }
  std::uint32_t engines() const { return static_cast<std::uint32_t>(units_.size()); }
  const std::vector<std::unique_ptr<EngineUnit>>& units() const { return units_; }
  // Runs `task` on each engine, one after the other, as Engine::execute does.
  void execute_on_all(const std::function<void(EngineUnit&)>& task);
  // Sums over all engines (engine.hpp).
  std::uint64_t activity() const;
  transport::Nanoseconds processor_time() const;

  const std::vector<std::unique_ptr<ServedDevice>>& devices() const { return devices_; }

  // The device that is this node of the subnet; null: a switch, or a host without a device.
  ServedDevice* device_at(subnet::NodeIndex node) const {
    return node < device_of_node_.size() ? device_of_node_[node] : nullptr;
  }

  // The built-in InfiniBand fabric; without nodes if there are no InfiniBand devices.
  subnet::Network& subnet() { return *subnet_; }
  const subnet::Network& subnet() const { return *subnet_; }

  // Its management datagrams on the links of devices; null: there are no InfiniBand devices.
  DatagramLinks* datagram_links() const { return datagram_links_.get(); }

  // To be called when something has changed there: data goes by what is written now.
  void subnet_changed();
  // Adds a host to it, as near to the adapter `near` as there is a free port of a switch; its cable is not
  // plugged in yet. Throws std::runtime_error if there is no such port.
  subnet::NodeIndex add_host(const std::string& name, subnet::NodeIndex near);
  // Stations have a port at this host from now on.
  void host_has_port(subnet::NodeIndex host);
  // Calls `watcher` each time before that. An empty one ends it.
  void on_subnet_change(std::function<void()> watcher) { subnet_watcher_ = std::move(watcher); }

  // Memory that programs share is mapped, when it is registered.
  bool maps_shared_memory() const { return maps_shared_memory_; }
  PrivateMemory private_memory() const { return private_memory_; }
  // What became of private memory that the device process wanted to be shared.
  SharingCounters& sharing_counters() { return sharing_counters_; }
  // The programs' quotas of this process's resources.
  Quotas& quotas() { return quotas_; }

  // Applies the device's settings to its link. On the engine's thread once that runs.
  void configure_link(const ServedDevice& served);

  // Whether the device's link is up; an InfiniBand one is before its subnet manager makes it active.
  bool link_is_up(const ServedDevice& served);
  // The same at the engine's time `now`, on the engine's thread once that runs.
  bool link_is_up(const ServedDevice& served, transport::Time now) const;

  // The processes that are ports of a switch beside its devices.
  Stations& stations() { return stations_; }
  const Stations& stations() const { return stations_; }

  // The LAN that the switch is joined to; null: none.
  link::LanPort* lan() { return lan_.get(); }
  const LanSettings& lan_settings() const { return lan_settings_; }
  // To be called when a device's GIDs have changed.
  void gids_changed(ServedDevice& served);
  // The device's largest path MTU is one that fits into IP packets of `interface_mtu` bytes.
  static void fit_mtu(ServedDevice& served, std::uint32_t interface_mtu);

  // The device with `gid` on the built-in switch: a device of this process, or else a neighbour, which may be
  // asked for only now.
  link::Neighbour find(const wire::Gid& gid) const;
  // Where `from` sends what is for `gid`, a single device's, from its own GID `own`: to a device in the same
  // VLAN.
  link::Neighbour find(const ServedDevice& from, const wire::Gid& own, const wire::Gid& gid) const;
  // The same, if it is known.
  std::optional<wire::MacAddress> resolve(const wire::Gid& gid) const;
  std::optional<wire::MacAddress> resolve(const ServedDevice& from, const wire::Gid& own,
                                          const wire::Gid& gid) const;
  // The address of this host from which its kernel would send to `destination`; asked only for UDP wires.
  // Empty: it has no route, or there is no such wire. `interface` is that of a link-local destination, or 0.
  std::optional<wire::Gid> host_source(const wire::Gid& destination, std::uint32_t interface) const;
  // Ask the routes of the network namespace in which devices have interfaces of their own, and look for
  // neighbours there; empty, as long as `ask_routes` has set none: there are no such interfaces.
  const RouteLookup& interface_routes() const { return interface_routes_; }
  const NeighbourSearch& interface_neighbours() const { return interface_neighbours_; }
  void ask_routes(RouteLookup routes, NeighbourSearch neighbours) {
    interface_routes_ = std::move(routes);
    interface_neighbours_ = std::move(neighbours);
  }
  // Finds devices outside of this process; asked in the order of addition. Outlives its use.
  void add_neighbours(link::Neighbours& neighbours);

 private:
  EngineUnit& unit(const ServedDevice& served) const;
  bool has_address(const ServedDevice& served, const wire::Gid& gid) const;
  void connect_engines();
  void make_subnet_timed(const link::TimedSubnetSettings& settings);
  link::Neighbour find_outside(std::uint16_t vlan, const wire::Gid& gid) const;
  void addresses_changed();
  void join_lan(std::unique_ptr<link::FrameCarrier> carrier);
  void groups_changed(ServedDevice& served, const wire::Gid& group, bool joined);
  void add_device(const DeviceSettings& settings, wire::Icrc icrc);
  void connect_wire(ServedDevice& served);

  Quotas quotas_;
  bool maps_shared_memory_;
  PrivateMemory private_memory_;
  SharingCounters sharing_counters_;
  std::optional<HostRoutes> host_routes_;
  RouteLookup interface_routes_;
  NeighbourSearch interface_neighbours_;
  LanSettings lan_settings_;
  std::unique_ptr<link::LanPort> lan_;
  // The order matters: devices are destroyed before the switches that they are attached to, and all after the
  // engines have stopped.
  std::vector<std::unique_ptr<link::Trunk>> trunks_;  // from engine i to engine j: i * engines() + j
  std::vector<std::unique_ptr<EngineUnit>> units_;
  std::vector<std::unique_ptr<ServedDevice>> devices_;
  std::unique_ptr<subnet::Network> subnet_;
  std::vector<ServedDevice*> device_of_node_;
  // Both null: there are no InfiniBand devices.
  std::unique_ptr<LidRouting> lid_routing_;
  std::unique_ptr<DatagramLinks> datagram_links_;
  std::function<void()> subnet_watcher_;
  std::vector<link::Neighbours*> neighbours_;
  Stations stations_{*this};
};

}  // namespace urnic::control
