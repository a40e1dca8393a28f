#include "tests/unit/storm/raw_traffic.hpp"

#include <algorithm>

#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "device_model/transport/unreliable/raw_packet.hpp"
#include "tests/unit/engine/raw_frames.hpp"

namespace urnic::engine::storm {

using transport::QpState;

namespace {

constexpr test::QpLayout kLayout{.send_slot_size = 1024, .service = transport::QpService::raw_packet};
constexpr std::uint32_t kLongest = 1024 + transport::kRawFrameHeader;

}  // namespace

RawTraffic::RawTraffic(const Programs& programs, std::uint32_t doorbell)
    : programs_(programs), one_(programs.one, doorbell, kLayout), other_(programs.other, doorbell, kLayout) {
  bring_up(one_);
  bring_up(other_);
  SteeringRule rule;
  rule.match.value.ether_type = {0x88, 0xB5};  // as test::RawFrame has it
  rule.match.mask.ether_type = {0xFF, 0xFF};
  rule.target.queue_pair = &other_.device_end();
  programs.one.engine.execute([&] { rule_ = programs.other.device.add_steering_rule(rule); });
}

RawTraffic::~RawTraffic() {
  programs_.one.engine.execute([&] { programs_.other.device.remove_steering_rule(rule_); });
}

void RawTraffic::bring_up(test::TestQp& queue_pair) {
  transport::QpParameters parameters;
  parameters.path_mtu = kLongest;
  queue_pair.send_producer = queue_pair.receive_producer = 0;
  for (const QpState state : {QpState::reset, QpState::init, QpState::rtr, QpState::rts}) {
    programs_.one.engine.execute([&] { queue_pair.device_end().modify(state, parameters, std::nullopt); });
  }
}

void RawTraffic::send(Chance& chance) {
  test::RawFrame frame;
  frame.to = programs_.other.device.config().mac;
  if (chance.one_in(4)) frame.to = {{2, 0, 0, 0, 0, 77}};  // no device's: flooded
  if (chance.one_in(4)) frame.ether_type = 0x88B6;
  frame.rest.resize(chance.number(46, 1000));
  const test::FrameBytes bytes = frame.bytes();
  const std::size_t offset = chance.up_to(500'000);
  std::copy(bytes.begin(), bytes.end(), programs_.one.bytes.data() + offset);
  const abi::ScatterGather from[] = {programs_.one.sge(offset, static_cast<std::uint32_t>(bytes.size()))};
  one_.post_send(test::wqe(abi::SendOpcode::send), from);
}

void RawTraffic::post(Chance& chance) {
  if (chance.one_in(2)) return send(chance);
  const abi::ScatterGather to[] = {programs_.other.sge(chance.up_to(500'000), chance.number(0, 2000))};
  other_.post_receive(to);
}

void RawTraffic::poll() {
  for (test::TestQp* queue_pair : {&one_, &other_}) {
    drain(queue_pair->send_cq);
    drain(queue_pair->receive_cq);
  }
}

void RawTraffic::disturb(Chance& chance) {
  test::TestQp& queue_pair = chance.one_in(2) ? one_ : other_;
  if (chance.one_in(2)) return bring_up(queue_pair);
  disturb_state(chance, programs_.one.engine, queue_pair);
}

}  // namespace urnic::engine::storm
