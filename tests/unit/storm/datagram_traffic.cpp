#include "tests/unit/storm/datagram_traffic.hpp"

#include "device_model/engine/queue_pair/queue_pair_context.hpp"

namespace urnic::engine::storm {

using transport::QpState;

namespace {

constexpr std::uint32_t kQkey = 0x1EE7;
constexpr std::uint32_t kGroupQpn = 0xFFFFFF;
constexpr wire::Gid kGroup{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 239, 1, 2, 3}};

}  // namespace

DatagramTraffic::DatagramTraffic(const Programs& programs, std::uint32_t doorbell)
    : programs_(programs),
      one_(programs.one, doorbell, {.service = transport::QpService::ud}),
      other_(programs.other, doorbell, {.service = transport::QpService::ud}) {
  bring_up(one_);
  bring_up(other_);
  Device& from = programs.one.device;
  programs.one.engine.execute([&] {
    wire::NetworkHeaders path = test::Fabric::path(from, programs.other.device);
    handles_[0] = from.address_handles().add(std::make_unique<AddressHandle>(programs.one.pd, path)).value();
    path.destination = kGroup;
    path.destination_mac = wire::multicast_mac(kGroup);
    handles_[1] = from.address_handles().add(std::make_unique<AddressHandle>(programs.one.pd, path)).value();
    programs.other.device.multicast_groups().attach(kGroup, other_.device_end());
  });
}

DatagramTraffic::~DatagramTraffic() {
  programs_.one.engine.execute([&] {
    programs_.other.device.multicast_groups().detach(kGroup, other_.device_end());
    for (const std::uint32_t handle : handles_) programs_.one.device.address_handles().remove(handle);
  });
}

void DatagramTraffic::bring_up(test::TestQp& queue_pair) {
  transport::QpParameters parameters;
  parameters.path_mtu = 1024;
  parameters.qkey = kQkey;
  queue_pair.send_producer = queue_pair.receive_producer = 0;
  for (const QpState state : {QpState::reset, QpState::init, QpState::rtr, QpState::rts}) {
    programs_.one.engine.execute([&] { queue_pair.device_end().modify(state, parameters, std::nullopt); });
  }
}

void DatagramTraffic::post(Chance& chance) {
  if (chance.one_in(4)) {
    const abi::ScatterGather to[] = {programs_.other.sge(chance.up_to(500'000), chance.number(0, 1100))};
    return other_.post_receive(to);
  }
  const bool to_group = chance.one_in(4);
  abi::SendWqe head = test::wqe(abi::SendOpcode::send, 0);
  if (chance.one_in(4)) head.flags |= abi::send_signaled;
  head.address_handle = handles_[to_group];
  head.remote_qpn = to_group ? kGroupQpn : other_.qpn().value;
  head.remote_qkey = chance.one_in(10) ? 1 : kQkey;
  const std::uint32_t count = chance.number(1, 20);
  for (std::uint32_t i = 0; i < count; ++i) {
    const abi::ScatterGather from[] = {programs_.one.sge(chance.up_to(500'000), chance.number(0, 1024))};
    one_.post_send(head, from);
  }
}

void DatagramTraffic::poll() {
  for (test::TestQp* queue_pair : {&one_, &other_}) {
    drain(queue_pair->send_cq);
    drain(queue_pair->receive_cq);
  }
}

void DatagramTraffic::disturb(Chance& chance) {
  test::TestQp& queue_pair = chance.one_in(2) ? one_ : other_;
  if (chance.one_in(2)) return bring_up(queue_pair);
  disturb_state(chance, programs_.one.engine, queue_pair);
}

}  // namespace urnic::engine::storm
