// Stations: processes of this user that speak Ethernet frames themselves, as one more port of a device's
// switch (link/frames/station_port.hpp). Packet scripts are such.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "device_model/link/frames/station_port.hpp"
#include "device_model/link/neighbours.hpp"
#include "device_model/memory/descriptor.hpp"
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

  link::Neighbour find_in(std::uint16_t vlan, const wire::Gid& gid) override;

 private:
  struct Open {
    EngineUnit* unit = nullptr;
    link::StationPort* port = nullptr;
    StationAddress address;
    memory::Descriptor far_end;
  };

  void close(std::uint64_t number);
  link::StationPort& free_port(EngineUnit& unit) const;

  Fabric& fabric_;
  std::map<std::uint64_t, Open> open_;
  std::uint64_t next_ = 0;
};

}  // namespace urnic::control
