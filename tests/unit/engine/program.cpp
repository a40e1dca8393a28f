#include "tests/unit/engine/program.hpp"

#include <optional>
#include <string>

namespace urnic::engine::test {

using transport::QpState;

TestQp::TestQp(Program& program, std::uint32_t doorbell, const QpLayout& l)
    : QueuePairEnd(program, doorbell, l), program_(program) {
  program.engine.execute([&] { install(); });
}

TestQp::~TestQp() {
  program_.engine.execute([&] { remove(); });
}

Program::Program(Engine& e, Device& d) : ContextEnd(d), engine(e), bytes(kBytes) {
  memory.add_range(bytes);
  engine.execute([&] {
    key = *device.memory_table().add_region(
        {.memory = &memory,
         .pd = pd,
         .address = address(0),
         .iova = address(0),
         .length = bytes.size(),
         .access = memory::access_local_write | memory::access_remote_write | memory::access_remote_read |
                   memory::access_remote_atomic | memory::access_window_bind});
    private_key = *device.memory_table().add_region({.memory = &memory,
                                                     .pd = pd,
                                                     .address = address(0),
                                                     .iova = address(0),
                                                     .length = bytes.size(),
                                                     .access = memory::access_local_write});
    engine.add_doorbells(doorbell_set);
  });
}

Program::~Program() {
  engine.execute([&] {
    engine.remove_doorbells(doorbell_set);
    device.memory_table().remove_region(key);
    device.memory_table().remove_region(private_key);
  });
}

void Program::fill(std::size_t offset, std::size_t length, std::uint8_t seed) {
  for (std::size_t i = 0; i < length; ++i) {
    bytes[offset + i] = static_cast<std::byte>(i * 7 + i / 251 + seed);
  }
}

bool Program::holds(std::size_t offset, std::size_t length, std::uint8_t seed) const {
  for (std::size_t i = 0; i < length; ++i) {
    if (bytes[offset + i] != static_cast<std::byte>(i * 7 + i / 251 + seed)) return false;
  }
  return true;
}

void post_write(TestQp& sender, Program& from, Program& to, std::uint32_t length) {
  abi::SendWqe head = wqe(abi::SendOpcode::rdma_write);
  head.remote_address = to.address(0);
  head.rkey = to.key.value;
  const abi::ScatterGather pieces[] = {from.sge(0, length)};
  sender.post_send(head, pieces);
}

DeviceConfig device_config(std::uint8_t number) {
  DeviceConfig config;
  config.name = "test" + std::to_string(number);
  config.mac = {{2, 0, 0, 0, 0, number}};
  wire::Gid gid;
  gid.bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, number};
  config.gids = {{.gid = gid}};
  config.max_qp = 1 << 16;
  config.max_memory_keys = 1024;
  return config;
}

DeviceConfig infiniband_config(std::uint8_t number) {
  DeviceConfig config = device_config(number);
  config.link_layer = wire::LinkLayer::infiniband;
  config.gids[0].gid.bytes = {0xFE, 0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, number};
  return config;
}

wire::Lid lid_of(const Device& device) {
  return {static_cast<std::uint16_t>(0x10 * device.config().mac.bytes.back())};
}

Fabric::Fabric(wire::LinkLayer link_layer)
    : engine({}),
      device0(link_layer == wire::LinkLayer::ethernet ? device_config(1) : infiniband_config(1),
              engine.data_path(), frame_switch),
      device1(link_layer == wire::LinkLayer::ethernet ? device_config(2) : infiniband_config(2),
              engine.data_path(), frame_switch),
      program0(engine, device0),
      program1(engine, device1) {
  engine.add_uplink(frame_switch);
  if (link_layer == wire::LinkLayer::infiniband) route();
}

void Fabric::route() {
  constexpr std::uint8_t kNowhere = 0xFF;
  link::LidNode hub{.ports = std::vector<link::LidPort>(3),
                    .linear = std::vector<std::uint8_t>(0x40, kNowhere)};
  hub.groups.resize(2);
  for (std::uint8_t port = 1; port <= 2; ++port) {
    Device& device = port == 1 ? device0 : device1;
    device.set_lids({lid_of(device), 0});
    link::LidNode adapter{.device = port - 1u, .lid = lid_of(device), .ports = std::vector<link::LidPort>(2)};
    adapter.ports[1] = {0, port, true};
    frame_switch.lid_routes().set_node(port, adapter);
    hub.ports[port] = {port, 1, true};
    hub.linear[lid_of(device).value] = port;
    hub.groups[0].set(port);
  }
  frame_switch.lid_routes().set_node(0, hub);
}

Fabric::~Fabric() = default;

wire::NetworkHeaders Fabric::path(const Device& from, const Device& to) {
  wire::NetworkHeaders network;
  if (from.config().link_layer == wire::LinkLayer::infiniband) {
    network.local = {.destination = lid_of(to), .source = lid_of(from)};
    return network;
  }
  network.source_mac = from.config().mac;
  network.destination_mac = to.config().mac;
  network.source = from.config().gids[0].gid;
  network.destination = to.config().gids[0].gid;
  network.udp_source = 0xC000;
  return network;
}

transport::QpParameters Fabric::parameters(const TestQp& peer, std::uint32_t path_mtu) {
  transport::QpParameters parameters;
  parameters.access = {.remote_read = true, .remote_write = true, .remote_atomic = true};
  parameters.path_mtu = path_mtu;
  parameters.destination = peer.qpn();
  parameters.receive_psn = wire::Psn(0xFFFFF0);
  parameters.send_psn = wire::Psn(0xFFFFF0);
  parameters.max_destination_reads = 16;
  parameters.max_reads = 16;
  parameters.min_rnr_timer = 1;
  parameters.timeout = 14;
  parameters.retry_count = 7;
  parameters.rnr_retry = 7;
  return parameters;
}

void Fabric::connect(TestQp& one, TestQp& other, std::uint32_t path_mtu) {
  one.connect_to(other, path_mtu);
  other.connect_to(one, path_mtu);
}

void TestQp::connect_to(TestQp& peer, std::uint32_t path_mtu) {
  program_.engine.execute([&] {
    const transport::QpParameters parameters = Fabric::parameters(peer, path_mtu);
    device_end().modify(QpState::init, parameters, std::nullopt);
    device_end().modify(QpState::rtr, parameters, Fabric::path(program_.device, peer.program_.device));
    device_end().modify(QpState::rts, parameters, std::nullopt);
  });
}

void Fabric::run() {
  std::uint32_t rung = 0;
  do {
    rung = program0.doorbell_set.collect() + program1.doorbell_set.collect();
    engine.data_path().round();
  } while (rung != 0 || engine.data_path().busy());
}

void Fabric::advance(transport::Nanoseconds span) {
  engine.data_path().set_now(engine.data_path().now() + span);
  run();
}

}  // namespace urnic::engine::test
