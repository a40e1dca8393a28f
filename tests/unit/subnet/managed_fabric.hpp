// The small fabric as a manager has left it.
#pragma once

#include "small_fabric.hpp"

namespace urnic::subnet::test {

// LIDs 1 (one), 2 (near), 3 (far), 4 (other), as a manager gives them out, and all ports active.
struct ManagedFabric : SmallFabric {
  ManagedFabric() {
    give_lid({}, 1, 1);
    give_lid({1}, 0, 2);
    give_lid({1, 2}, 0, 3);
    give_lid({1, 2, 1}, 1, 4);
    write_routes({1}, {kNoRoute, 1, 0, 2, 2});
    write_routes({1, 2}, {kNoRoute, 3, 3, 0, 1});
  }

  void activate() {
    for (const PortState state : {PortState::armed, PortState::active}) {
      set_port({}, 1, state);
      set_port({1}, 1, state);
      set_port({1}, 2, state);
      set_port({1, 2}, 3, state);
      set_port({1, 2}, 1, state);
      set_port({1, 2, 1}, 1, state);
    }
  }

  void give_lid(std::initializer_list<unsigned> way, std::uint32_t port, std::uint16_t lid) {
    auto info = get<PortInfo>(SubnetAttribute::port_info, way, port);
    info.lid = {lid};
    info.manager_lid = {1};
    info.state = PortState::no_change;
    info.physical_state = PhysicalState::no_change;
    set(SubnetAttribute::port_info, way, port, encode_data(info));
  }

  void write_routes(std::initializer_list<unsigned> way, std::initializer_list<unsigned> ports) {
    SmpData data;
    data.fill(std::byte{kNoRoute});
    std::size_t lid = 0;
    for (const unsigned port : ports) data[lid++] = static_cast<std::byte>(port);
    set(SubnetAttribute::linear_forwarding, way, 0, data);
  }
};

}  // namespace urnic::subnet::test
