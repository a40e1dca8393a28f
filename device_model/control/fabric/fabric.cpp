#include "device_model/control/fabric/fabric.hpp"

#include <fmt/core.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <stdexcept>
#include <system_error>

#include "device_model/control/fabric/built_in_subnet.hpp"
#include "device_model/control/fabric/datagram_links.hpp"
#include "device_model/control/fabric/engine_unit.hpp"
#include "device_model/control/fabric/lan_groups.hpp"
#include "device_model/control/fabric/lid_routing.hpp"
#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/fabric/planned_devices.hpp"
#include "device_model/control/fabric/port_record.hpp"
#include "device_model/control/fabric/udp_wire.hpp"
#include "device_model/engine/data_path.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/engine/management/management_queue_pair.hpp"
#include "device_model/link/frames/lan_port.hpp"
#include "device_model/link/trunk.hpp"
#include "device_model/subnet/added_host.hpp"
#include "device_model/transport/mix.hpp"
#include "wire/network_headers.hpp"

namespace urnic::control {
namespace {

std::uint64_t random_seed() {
  std::uint64_t seed = 0;
  if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
    throw std::system_error(errno, std::generic_category(), "getrandom");
  return seed;
}

// Devices with equal seeds in the configuration still get different numbers.
memory::NumberSeed first_numbers(const ServedDevice& device) {
  const std::uint64_t seed = device.settings.number_seed ? *device.settings.number_seed : random_seed();
  return memory::NumberSeed(transport::mix(seed, device.index));
}

std::vector<engine::LocalGid> local_gids(const DeviceSettings& device) {
  std::vector<engine::LocalGid> gids;
  for (const wire::Gid& gid : device.gids) gids.push_back({gid, 0});
  for (const auto& [place, vlan] : device.vlans) gids.at(place).vlan = vlan;
  return gids;
}

std::optional<wire::MacAddress> known(const link::Neighbour& neighbour) {
  return neighbour.state == link::Neighbour::State::known ? std::optional(neighbour.mac) : std::nullopt;
}

wire::LinkLayer wire_link_layer(LinkLayer layer) {
  return layer == LinkLayer::infiniband ? wire::LinkLayer::infiniband : wire::LinkLayer::ethernet;
}

}  // namespace

Fabric::Fabric(const Configuration& configuration, std::unique_ptr<link::FrameCarrier> lan)
    : quotas_(configuration.allowances),
      maps_shared_memory_(configuration.maps_shared_memory),
      private_memory_(configuration.private_memory),
      lan_settings_(configuration.lan.value_or(LanSettings{})) {
  const std::size_t engines = std::min<std::size_t>(configuration.engines, configuration.devices.size());
  for (std::size_t i = 0; i < engines; ++i) {
    engine::EngineConfig config{.idle_spin = configuration.idle_spin};
    if (engines > 1) config.thread_name += fmt::format("-{}", i);
    units_.push_back(std::make_unique<EngineUnit>(static_cast<std::uint32_t>(i), config));
    units_.back()->frame_switch.buffer().configure(configuration.switch_buffer);
    units_.back()->engine.add_uplink(units_.back()->frame_switch);
  }
  if (engines > 1) connect_engines();
  for (const DeviceSettings& settings : configuration.devices) add_device(settings, configuration.icrc);
  subnet_ = make_subnet(configuration.fabric, devices_);
  device_of_node_.resize(subnet_->nodes().size());
  for (const auto& device : devices_)
    if (device->adapter) device_of_node_.at(*device->adapter) = device.get();
  if (configuration.credits) make_subnet_timed(*configuration.credits);
  if (!subnet_->nodes().empty()) {
    lid_routing_ = std::make_unique<LidRouting>(*this);
    datagram_links_ = std::make_unique<DatagramLinks>(*this);
    subnet_->use(*datagram_links_);
  }
  subnet_changed();
  add_neighbours(stations_);
  if (configuration.lan) join_lan(lan != nullptr ? std::move(lan) : open_carrier(lan_settings_.carrier));
}

Fabric::Fabric(const Configuration& configuration) : Fabric(configuration, nullptr) {}

void Fabric::make_subnet_timed(const link::TimedSubnetSettings& settings) {
  EngineUnit& home = infiniband_unit();
  link::Switch& at = home.frame_switch;
  home.timed_subnet = std::make_unique<link::TimedSubnet>(settings, at.lid_routes(), at.lid_exit());
  at.set_lid_fabric(*home.timed_subnet);
}

// The first engine serves the LAN, and all InfiniBand devices.
EngineUnit& Fabric::unit(const ServedDevice& served) const {
  if (is_infiniband(served.settings)) return infiniband_unit();
  return *units_[served.index % units_.size()];
}

void Fabric::subnet_changed() {
  if (subnet_watcher_) subnet_watcher_();
  if (lid_routing_ != nullptr) lid_routing_->follow();
}

subnet::NodeIndex Fabric::add_host(const std::string& name, subnet::NodeIndex near) {
  const auto place = subnet::free_switch_port(subnet_->nodes(), near);
  if (!place)
    throw std::runtime_error(fmt::format(
        "no switch of the InfiniBand fabric has a free port for the host {}: a [[fabric.hosts]] of this "
        "name has one, or a switch with more ports",
        name));
  return subnet::add_host(*subnet_, name, *place);
}

void Fabric::host_has_port(subnet::NodeIndex host) {
  lid_routing_->look_again(host);
  subnet_changed();
}

engine::Engine& Fabric::engine(const ServedDevice& served) { return unit(served).engine; }

link::Switch& Fabric::switch_of(const ServedDevice& served) { return unit(served).frame_switch; }

const link::Switch& Fabric::switch_of(const ServedDevice& served) const { return unit(served).frame_switch; }

void Fabric::add_interface(DeviceInterface opened) {
  ServedDevice& served = *devices_.at(opened.device);
  EngineUnit& home = unit(served);
  link::HostInterface& interface = *home.host_interfaces.emplace_back(
      std::make_unique<link::HostInterface>(std::move(opened.tap), served.settings.mac, served.index));
  home.frame_switch.add_host(served.index, interface, served.device->host_port());
  served.device->set_host(interface);
  served.host_interface = &interface;
  home.engine.wake_on_host(interface.wake_descriptor());
  fit_mtu(served, opened.interface.mtu);
  served.interface = std::move(opened.interface);
}

// The trunks carry its frames to the others' devices.
void Fabric::join_lan(std::unique_ptr<link::FrameCarrier> carrier) {
  EngineUnit& home = *units_.front();
  lan_ = std::make_unique<link::LanPort>(std::move(carrier), lan_settings_.vlan,
                                         [&home] { home.engine.wake(); });
  home.frame_switch.join_lan(*lan_);
  for (std::size_t i = 1; i < units_.size(); ++i)
    units_[i]->frame_switch.join_lan_by(*trunks_[i * units_.size()]);
  home.engine.wake_on(lan_->wake_descriptor());
  add_neighbours(lan_->neighbours());
  if (lan_settings_.mtu == 0) {
    const std::uint32_t mtu = link::interface_mtu(lan_settings_.carrier.name);
    for (const auto& device : devices_)
      if (device->udp == nullptr) fit_mtu(*device, mtu);
  }
  addresses_changed();
}

void Fabric::add_neighbours(link::Neighbours& neighbours) { neighbours_.push_back(&neighbours); }

void Fabric::gids_changed(ServedDevice& served) {
  engine(served).execute([&] { served.device->set_gids(local_gids(served.settings)); });
  addresses_changed();
}

// A LAN that is a VLAN itself has no VLANs within.
void Fabric::addresses_changed() {
  if (lan_ == nullptr) return;
  std::vector<link::OwnAddress> addresses;
  for (const auto& device : devices_) {
    if (device->udp != nullptr || device->adapter) continue;
    const auto& gids = device->settings.gids;
    for (std::size_t i = 0; i < gids.size(); ++i) {
      const std::uint16_t vlan = vlan_of(*device, i);
      const bool is_on_lan = gids[i] != wire::Gid{} && (vlan == 0 || !lan_settings_.vlan);
      if (is_on_lan) addresses.push_back({gids[i], device->settings.mac, vlan});
    }
  }
  lan_->neighbours().set_addresses(std::move(addresses));
  lan_->groups().set_members(lan_group_members(devices_));
}

// On a UDP wire the kernel joins the group; on a LAN the device itself does.
void Fabric::groups_changed(ServedDevice& served, const wire::Gid& group, bool joined) {
  if (served.udp == nullptr) {
    if (lan_ != nullptr) lan_->groups().set_members(lan_group_members(devices_));
    return;
  }
  engine::Engine& home = engine(served);
  int arrivals = -1;
  std::exception_ptr refused;
  home.execute([&] {
    try {
      if (joined) arrivals = served.udp->port.join(group);
      if (!joined) served.udp->port.leave(group);
    } catch (const std::system_error&) {
      refused = std::current_exception();
    }
  });
  if (refused) std::rethrow_exception(refused);
  if (arrivals >= 0) home.wake_on(arrivals);
}

std::optional<wire::Gid> Fabric::host_source(const wire::Gid& destination, std::uint32_t interface) const {
  return host_routes_ ? host_routes_->source_for(destination, interface) : std::nullopt;
}

void Fabric::fit_mtu(ServedDevice& served, std::uint32_t interface_mtu) {
  constexpr std::uint32_t kLeast = 256;
  served.settings.mtu = std::min(served.largest_mtu, std::max(link::path_mtu_for(interface_mtu), kLeast));
}

void Fabric::connect_engines() {
  for (const auto& from : units_) {
    for (const auto& to : units_) {
      if (from == to) {
        trunks_.push_back(nullptr);
        continue;
      }
      link::Trunk& trunk =
          *trunks_.emplace_back(std::make_unique<link::Trunk>(&from->engine.data_path().staging()));
      engine::Engine& reader = to->engine;
      from->trunk_ports.add_outgoing(trunk, [&reader] { reader.wake(); });
      to->trunk_ports.add_incoming(trunk);
    }
    from->engine.data_path().set_trunk_ports(&from->trunk_ports);
  }
}

void Fabric::add_device(const DeviceSettings& settings, wire::Icrc icrc) {
  auto served = std::make_unique<ServedDevice>(static_cast<std::uint32_t>(devices_.size()), settings);
  EngineUnit& home = unit(*served);
  served->device = std::make_unique<engine::Device>(
      engine::DeviceConfig{.name = settings.name,
                           .mac = settings.mac,
                           .link_layer = wire_link_layer(settings.link_layer),
                           .gids = local_gids(settings),
                           .max_qp = settings.max_qp,
                           .max_memory_keys = limits::kMaxMemoryKeys,
                           .number = served->index,
                           .icrc = icrc,
                           .numbers = first_numbers(*served)},
      home.engine.data_path(), home.frame_switch);
  served->management =
      std::make_unique<engine::ManagementQueuePair>(served->device->resources(), home.management);
  served->device->set_management_receiver(engine::kGeneralServicesQpn, served->management.get());
  home.devices.push_back(served.get());
  for (const auto& other : units_) {
    if (other.get() == &home) continue;
    link::Trunk& trunk = *trunks_[other->number * units_.size() + home.number];
    other->frame_switch.attach_remote(settings.mac, trunk, settings.name,
                                      &home.frame_switch.pause(served->index));
  }
  served->multicast.on_change([this, device = served.get()](const wire::Gid& group, bool joined) {
    groups_changed(*device, group, joined);
  });
  connect_wire(*served);
  configure_link(*served);
  devices_.push_back(std::move(served));
}

// The port's MTU is the interface's. No other device of this process reaches it but through the host.
void Fabric::connect_wire(ServedDevice& served) {
  if (served.settings.wire_kind != WireKind::udp) return;
  served.udp = open_udp_wire(served.settings, served.index);
  fit_mtu(served, served.udp->interface.mtu);
  if (!host_routes_) host_routes_.emplace();
  EngineUnit& home = unit(served);
  home.frame_switch.connect(served.index, served.udp->port);
  for (const int descriptor : served.udp->port.wake_descriptors()) home.engine.wake_on(descriptor);
  for (const auto& other : units_)
    if (other.get() != &home) other->frame_switch.isolate(served.index);
}

void Fabric::configure_link(const ServedDevice& served) {
  link::Switch& home = unit(served).frame_switch;
  const link::LinkSettings& transmit = served.settings.transmit_link;
  const link::LinkSettings& receive = served.settings.receive_link;
  if (home.existing_link(served.index) == nullptr && !is_impaired(transmit) && !is_impaired(receive)) return;
  link::Link& link = home.link(served.index);
  if (link.channel(link::Direction::transmit).settings() != transmit)
    link.configure(link::Direction::transmit, transmit);
  if (link.channel(link::Direction::receive).settings() != receive)
    link.configure(link::Direction::receive, receive);
}

void Fabric::start() {
  for (const auto& unit : units_) unit->engine.start();
}

// Stops all before destroying any: they wake one another.
Fabric::~Fabric() {
  for (const auto& unit : units_) unit->engine.stop();
}

void Fabric::execute_on_all(const std::function<void(EngineUnit&)>& task) {
  for (const auto& unit : units_) unit->engine.execute([&] { task(*unit); });
}

std::uint64_t Fabric::activity() const {
  std::uint64_t sum = 0;
  for (const auto& unit : units_) sum += unit->engine.activity();
  return sum;
}

transport::Nanoseconds Fabric::processor_time() const {
  transport::Nanoseconds sum{0};
  for (const auto& unit : units_) sum += unit->engine.processor_time();
  return sum;
}

bool Fabric::link_is_up(const ServedDevice& served) {
  bool up = false;
  engine(served).execute([&] { up = link_is_up(served, engine(served).now()); });
  return up;
}

bool Fabric::link_is_up(const ServedDevice& served, transport::Time now) const {
  const bool is_linked = !served.adapter || subnet::is_linked(subnet_->node(*served.adapter).ports[1]);
  return is_linked && served.device->link_up(now);
}

link::Neighbour Fabric::find(const wire::Gid& gid) const {
  using State = link::Neighbour::State;
  if (gid == wire::Gid{}) return {};  // an empty entry of the table
  for (const auto& served : devices_) {
    const auto& gids = served->settings.gids;
    if (served->udp == nullptr && !served->adapter && std::find(gids.begin(), gids.end(), gid) != gids.end())
      return {State::known, served->settings.mac};
  }
  return find_outside(0, gid);
}

link::Neighbour Fabric::find_outside(std::uint16_t vlan, const wire::Gid& gid) const {
  using State = link::Neighbour::State;
  link::Neighbour best;
  for (link::Neighbours* neighbours : neighbours_) {
    const link::Neighbour found = neighbours->find_in(vlan, gid);
    if (found.state == State::known) return found;
    if (found.state == State::asked) best = found;
  }
  return best;
}

link::Neighbour Fabric::find(const ServedDevice& from, const wire::Gid& own, const wire::Gid& gid) const {
  using State = link::Neighbour::State;
  if (from.udp != nullptr) {
    if (gid == wire::Gid{} || wire::is_multicast(gid)) return {};
    return {State::known, link::UdpPort::mac_of(gid)};
  }
  if (gid == wire::Gid{}) return {};  // an empty entry of the table
  const std::uint16_t vlan = vlan_of(from, own);
  for (const auto& served : devices_) {
    // Ethernet frames do not reach an InfiniBand port, or leave one.
    const bool is_near = served->udp == nullptr && served->adapter.has_value() == from.adapter.has_value();
    if (!is_near || !has_address(*served, gid)) continue;
    return vlan_of(*served, gid) == vlan ? link::Neighbour{State::known, served->settings.mac}
                                         : link::Neighbour{};
  }
  return from.adapter ? link::Neighbour{} : find_outside(vlan, gid);
}

// An InfiniBand port's GIDs are the manager's, beside the addresses that the configuration gives it.
bool Fabric::has_address(const ServedDevice& served, const wire::Gid& gid) const {
  const auto& gids = served.settings.gids;
  return std::find(gids.begin(), gids.end(), gid) != gids.end() ||
         (served.adapter && first_gid_of(subnet_->node(*served.adapter)) == gid);
}

std::optional<wire::MacAddress> Fabric::resolve(const wire::Gid& gid) const { return known(find(gid)); }

std::optional<wire::MacAddress> Fabric::resolve(const ServedDevice& from, const wire::Gid& own,
                                                const wire::Gid& gid) const {
  return known(find(from, own, gid));
}

}  // namespace urnic::control
