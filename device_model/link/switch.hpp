// The built-in switch: forwards frames between the ports attached to it by destination MAC address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "device_model/link/observation.hpp"
#include "device_model/link/port.hpp"

namespace urnic::link {

class Switch {
 public:
  Switch();
  ~Switch();
  Switch(const Switch&) = delete;
  Switch& operator=(const Switch&) = delete;

  // Makes a port for the device with `address`. `receiver` and the switch outlive the port's use. The port
  // belongs to the switch. A frame that a port sends to its own address comes back to it. Throws
  // std::invalid_argument if another port has the address.
  // `device` is the name that observers are told.
  Port& attach(const wire::MacAddress& address, FrameReceiver& receiver, std::string_view device = {});

  // At most a handful; called in order, at every capture point (observation.hpp).
  void add_observer(FrameObserver& observer);
  void remove_observer(FrameObserver& observer);

  // Frames transmitted to an address that no port has. Groups have no members yet: they are such addresses.
  std::uint64_t unknown_destination() const { return unknown_destination_; }

 private:
  class SwitchPort;
  // An entry of the forwarding table, which is an open-addressed hash table of a power of two of entries,
  // at most half full.
  struct Route {
    std::uint64_t address = 0;  // packed, with a bit above it that says that the entry is used
    SwitchPort* port = nullptr;
  };

  void forward(const SwitchPort& from, const wire::Frame& frame);
  void observe(const Observation& observation) const;
  static std::size_t first_place(std::uint64_t address, std::size_t places);
  SwitchPort* port_of(std::uint64_t address) const;
  static void insert(std::vector<Route>& routes, const Route& route);
  void grow();

  std::vector<std::unique_ptr<SwitchPort>> ports_;
  std::vector<Route> routes_;
  std::vector<FrameObserver*> observers_;
  std::uint64_t unknown_destination_ = 0;
};

}  // namespace urnic::link
