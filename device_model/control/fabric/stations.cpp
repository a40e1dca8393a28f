#include "device_model/control/fabric/stations.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <stdexcept>
#include <system_error>

#include "device_model/control/fabric/engine_unit.hpp"
#include "device_model/control/fabric/fabric.hpp"

namespace urnic::control {

// A port that no station has; ports are made when they are needed and stay.
link::StationPort& Stations::free_port(EngineUnit& unit) const {
  for (const auto& port : unit.stations) {
    const bool is_used = std::any_of(open_.begin(), open_.end(),
                                     [&](const auto& each) { return each.second.port == port.get(); });
    if (!is_used) return *port;
  }
  link::StationPort& made = *unit.stations.emplace_back(std::make_unique<link::StationPort>());
  unit.engine.execute([&] { unit.frame_switch.add_station(made); });
  return made;
}

std::unique_ptr<Stations::Station> Stations::open(const ServedDevice& device, const StationAddress& address) {
  if (device.udp != nullptr)
    throw std::runtime_error(device.settings.name +
                             " is on a wire of its own: only a device on the built-in "
                             "switch has a port beside it");
  if (fabric_.resolve(address.gid)) throw std::runtime_error("the GID is another one's on this switch");
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) != 0)
    throw std::system_error(errno, std::generic_category(), "socketpair");
  memory::Descriptor near_end(ends[0]);
  memory::Descriptor far_end(ends[1]);
  EngineUnit& unit = fabric_.unit_of(device);
  link::StationPort& port = free_port(unit);
  unit.engine.execute([&] {
    unit.engine.wake_on(near_end.get());
    unit.frame_switch.set_station(port, address.mac);
    port.open(std::move(near_end), address.mac);
  });
  open_[next_] = {&unit, &port, address, std::move(far_end)};
  return std::make_unique<Station>(*this, next_++);
}

void Stations::close(std::uint64_t number) {
  const Open& station = open_.at(number);
  station.unit->engine.execute([&] {
    station.unit->frame_switch.set_station(*station.port, std::nullopt);
    station.port->close();
  });
  open_.erase(number);
}

// None is in a VLAN.
link::Neighbour Stations::find_in(std::uint16_t vlan, const wire::Gid& gid) {
  if (vlan != 0) return {};
  for (const auto& [number, station] : open_)
    if (station.address.gid == gid) return {link::Neighbour::State::known, station.address.mac};
  return {};
}

}  // namespace urnic::control
