// Stations: processes of this user that speak frames themselves, as one more port of a device's switch
// (link/frames/station_port.hpp). Packet scripts are such. On Ethernet a station has a MAC address and a GID;
// on InfiniBand it is a host of the fabric without a device, to which the subnet manager gives a LID.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "device_model/link/frames/station_port.hpp"
#include "device_model/link/neighbours.hpp"
#include "device_model/memory/descriptor.hpp"
#include "device_model/subnet/node.hpp"
#include "wire/identifiers.hpp"

namespace urnic::control {

class Fabric;
struct EngineUnit;
struct ServedDevice;

struct StationAddress {
  wire::MacAddress mac;
  wire::Gid gid;
};

// Control thread.
class Stations final : public link::Neighbours {
 public:
  // A station, as long as this exists.
  class Station {
   public:
    Station(Stations& stations, std::uint64_t number) : stations_(stations), number_(number) {}
    ~Station() { stations_.close(number_); }
    Station(const Station&) = delete;
    Station& operator=(const Station&) = delete;

    // The process's end of the socket.
    int descriptor() const { return stations_.open_.at(number_).far_end.get(); }

   private:
    Stations& stations_;
    std::uint64_t number_;
  };

  explicit Stations(Fabric& fabric) : fabric_(fabric) {}

  // Beside `device`, on its switch: the devices of the same engine reach it. Throws std::runtime_error if the
  // device has a wire of its own, or if somebody has one of the addresses; std::system_error.
  std::unique_ptr<Station> open(const ServedDevice& device, const StationAddress& address);

  // Whose host of the InfiniBand fabric has this name; one is added, near `device`, if there is none.
  struct Host {
    subnet::NodeIndex node = 0;
    bool is_new = false;  // its cable is not plugged in yet
  };
  // Throws std::runtime_error: the name is no host's, or no switch has a free port.
  Host find_or_add_host(const ServedDevice& device, const std::string& name);
  // At that host, which stays when the station goes. Throws std::runtime_error if another station is there;
  // std::system_error.
  std::unique_ptr<Station> open_at(subnet::NodeIndex host);
  // The port number of that host's stations at the switch; empty: there was none.
  std::optional<std::uint32_t> port_of(subnet::NodeIndex host) const;
  // Whether a station is there now.
  bool is_at(subnet::NodeIndex host) const;
  // All hosts at which a station has been.
  const auto& hosts() const { return host_ports_; }

  link::Neighbour find_in(std::uint16_t vlan, const wire::Gid& gid) override;

 private:
  struct Open {
    EngineUnit* unit = nullptr;
    link::StationPort* port = nullptr;
    std::optional<StationAddress> address;  // on Ethernet
    memory::Descriptor far_end;
  };
  struct HostPort {
    link::StationPort* port = nullptr;
    std::uint32_t number = 0;
  };

  std::unique_ptr<Station> add(Open station);
  void close(std::uint64_t number);
  bool is_used(const link::StationPort& port) const;
  link::StationPort& free_port(EngineUnit& unit) const;
  HostPort make_port(EngineUnit& unit) const;

  Fabric& fabric_;
  std::map<std::uint64_t, Open> open_;
  std::map<subnet::NodeIndex, HostPort> host_ports_;
  std::uint64_t next_ = 0;
};

}  // namespace urnic::control
