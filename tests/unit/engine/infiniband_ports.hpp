// Two devices on a switch of InfiniBand, and datagrams between them.
#pragma once

#include <memory>

#include "device_model/engine/device/address_handle_table.hpp"
#include "tests/unit/engine/program.hpp"

namespace urnic::engine::test {

inline constexpr std::uint32_t kGrh = 40;
inline constexpr std::uint32_t kQkey = 0x1EE7;
inline constexpr std::size_t kReceived = 4096;  // where receives are in a program's memory
inline constexpr std::uint8_t kServiceLevel = 3;
inline constexpr wire::Qpn kGroupQpn{0xFFFFFF};
inline constexpr wire::Lid kGroupLid{0xC000};

inline wire::Gid group_gid() { return {{0xFF, 0x12, 0xA0, 0x1B, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}}; }

struct Subnet : Fabric {
  Subnet() : Fabric(wire::LinkLayer::infiniband) {}

  static wire::NetworkHeaders path_with_grh(const Device& from, const Device& to) {
    wire::NetworkHeaders network = path(from, to);
    network.local->with_grh = true;
    network.local->service_level = kServiceLevel;
    network.source = from.config().gids[0].gid;
    network.destination = to.config().gids[0].gid;
    return network;
  }

  // A number of the counter of packets that device1 has dropped because their addresses are not its own.
  std::uint64_t refused() const { return device1.port_counters().wrong_address; }
};

struct Datagrams : Subnet {
  Datagrams() {
    for (TestQp* qp : {&qp0, &qp1}) {
      transport::QpParameters parameters;
      parameters.path_mtu = 1024;
      parameters.qkey = kQkey;
      using transport::QpState;
      for (const QpState state : {QpState::init, QpState::rtr, QpState::rts})
        engine.execute([&] { qp->device_end().modify(state, parameters, std::nullopt); });
    }
  }
  TestQp qp0{program0, 0, {.service = transport::QpService::ud}};
  TestQp qp1{program1, 0, {.service = transport::QpService::ud}};

  void send(const wire::NetworkHeaders& to, wire::Qpn qpn, std::uint32_t length) {
    abi::SendWqe head = wqe(abi::SendOpcode::send);
    head.address_handle =
        device0.address_handles().add(std::make_unique<AddressHandle>(program0.pd, to)).value();
    head.remote_qpn = qpn.value;
    head.remote_qkey = kQkey;
    const abi::ScatterGather from[] = {program0.sge(0, length)};
    qp0.post_send(head, from);
    run();
  }
  static void post_receive(TestQp& qp, const Program& program) {
    const abi::ScatterGather to[] = {program.sge(kReceived, 1024)};
    qp.post_receive(to);
  }
  wire::NetworkHeaders to_group() const {
    wire::NetworkHeaders to = path_with_grh(device0, device1);
    to.local->destination = kGroupLid;
    to.destination = group_gid();
    return to;
  }
};

}  // namespace urnic::engine::test
