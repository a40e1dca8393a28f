// Two adapters, each on a switch of its own, and a link between the switches: node 0 (port 1) to port 1 of
// node 2, port 2 of node 2 to port 3 of node 3, port 1 of node 3 to node 1 (port 1).
#pragma once

#include <initializer_list>
#include <optional>
#include <vector>

#include "device_model/subnet/network.hpp"
#include "wire/mad/smp.hpp"

namespace urnic::subnet::test {

using namespace wire::mad;

inline constexpr NodeIndex kOne = 0;
inline constexpr NodeIndex kOther = 1;
inline constexpr NodeIndex kNear = 2;
inline constexpr NodeIndex kFar = 3;

inline Smp question(Method method, SubnetAttribute attribute, std::uint32_t modifier = 0) {
  Smp smp;
  smp.header.management_class = ManagementClass::subnet_lid_routed;
  smp.header.class_version = kSubnetClassVersion;
  smp.header.method = method;
  smp.header.transaction = {7};
  smp.header.attribute = {static_cast<std::uint16_t>(attribute)};
  smp.header.attribute_modifier = modifier;
  return smp;
}

// By this way, out of each port in turn.
inline Smp along(Smp smp, std::initializer_list<unsigned> ports) {
  smp.header.management_class = ManagementClass::subnet_directed_route;
  smp.hop_count = static_cast<std::uint8_t>(ports.size());
  std::size_t hop = 1;
  for (const unsigned port : ports) smp.initial_path[hop++] = static_cast<std::byte>(port);
  return smp;
}

struct SmallFabric {
  SmallFabric() {
    network.add(make_adapter({0xA1}, "one", 5));
    network.add(make_adapter({0xA2}, "other", 5));
    network.add(make_switch({0xB1}, "near", 4));
    network.add(make_switch({0xB2}, "far", 4));
    network.connect({kOne, 1}, {kNear, 1});
    network.connect({kNear, 2}, {kFar, 3});
    network.connect({kFar, 1}, {kOther, 1});
    network.on_arrival([this](NodeIndex adapter, const Datagram& datagram) {
      arrived.push_back({adapter, datagram});
    });
  }

  struct Arrival {
    NodeIndex adapter;
    Datagram datagram;
  };

  bool send(NodeIndex from, const Smp& smp, Lid destination = kPermissiveLid) {
    Datagram datagram;
    datagram.destination = destination;
    datagram.mad = encode(smp);
    return network.send(from, datagram);
  }

  // The only answer, at the asker's; empty: none.
  std::optional<Smp> ask(const Smp& smp, Lid destination = kPermissiveLid) {
    arrived.clear();
    send(kOne, smp, destination);
    Smp answer;
    if (arrived.size() != 1 || arrived[0].adapter != kOne ||
        decode(arrived[0].datagram.mad, answer) != MadError::none)
      return {};
    return answer;
  }

  template <class Attribute>
  Attribute get(SubnetAttribute attribute, std::initializer_list<unsigned> ports,
                std::uint32_t modifier = 0) {
    return decode_data<Attribute>(ask(along(question(Method::get, attribute, modifier), ports)).value().data);
  }

  MadStatus set(SubnetAttribute attribute, std::initializer_list<unsigned> ports, std::uint32_t modifier,
                const SmpData& data) {
    Smp smp = along(question(Method::set, attribute, modifier), ports);
    smp.data = data;
    return ask(smp).value().header.status;
  }

  MadStatus set_port(std::initializer_list<unsigned> ports, std::uint32_t number, PortState state) {
    auto info = get<PortInfo>(SubnetAttribute::port_info, ports, number);
    info.state = state;
    info.physical_state = PhysicalState::no_change;
    return set(SubnetAttribute::port_info, ports, number, encode_data(info));
  }

  Network network;
  std::vector<Arrival> arrived;
};

}  // namespace urnic::subnet::test
