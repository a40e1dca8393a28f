// Devices behind an uplink that is not the built-in switch, behind several, and a great many of them.
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "device_model/link/outer_port.hpp"
#include "tests/unit/engine/program.hpp"
#include "wire/frame_template.hpp"

namespace urnic::engine::test {

namespace uplink {

// A cable with an end for each of two devices. A frame is copied, and is due at the next round.
class Cable final : public link::Uplink {
 public:
  link::Port& attach(const wire::MacAddress&, link::FrameReceiver& receiver, std::string_view) override {
    ends_.push_back(std::make_unique<End>(*this, receiver));
    return *ends_.back();
  }
  link::Load deliver_due(transport::Time, const link::Load& most) override {
    link::Load delivered;
    while (!under_way_.empty() && delivered.frames < most.frames) {
      Frame& frame = delivered_.emplace_back(std::move(under_way_.front()));
      under_way_.pop_front();
      ++delivered.frames;
      delivered.bytes += frame.bytes.size();
      frame.to->arrive({.headers = frame.bytes, .payload = {}, .trailer = {}}, frame.origin);
    }
    return delivered;
  }
  void release() override { delivered_.clear(); }
  bool owes_release() const override { return !delivered_.empty(); }
  std::optional<transport::Time> next_due() const override {
    return under_way_.empty() ? std::nullopt : std::optional(transport::Time{});
  }
  bool overdue(transport::Time) const override { return false; }
  std::uint32_t count() const override {
    return static_cast<std::uint32_t>(under_way_.size() + delivered_.size());
  }
  bool takes_time() const override { return false; }

  std::uint32_t passed = 0;

 private:
  struct Frame {
    link::FrameReceiver* to;
    link::PacketOrigin origin;
    std::vector<std::byte> bytes;
  };
  struct End final : link::Port {
    End(Cable& its_cable, link::FrameReceiver& its_device) : cable(its_cable), device(its_device) {}
    void transmit(const wire::Frame& frame, const link::PacketOrigin& origin, transport::Time) override {
      cable.carry(*this, frame, origin);
    }
    bool up(transport::Time) const override { return true; }

    Cable& cable;
    link::FrameReceiver& device;
  };

  void carry(const End& from, const wire::Frame& frame, const link::PacketOrigin& origin) {
    ++passed;
    wire::pay_icrc(frame);
    const End& to = &from == ends_[0].get() ? *ends_[1] : *ends_[0];
    Frame& copy = under_way_.emplace_back(Frame{&to.device, origin, {}});
    for (const auto piece : {frame.headers, frame.payload, frame.trailer})
      copy.bytes.insert(copy.bytes.end(), piece.begin(), piece.end());
  }

  std::vector<std::unique_ptr<End>> ends_;
  std::deque<Frame> under_way_;
  std::deque<Frame> delivered_;
};

// One end of a wire between two processes: what leaves here comes at the other end as a copy, with no word
// about its sender but the address.
class OuterEnd final : public link::OuterPort {
 public:
  void join(OuterEnd& other) { other_ = &other; }
  void take(link::Port& port, transport::Time now, const link::Load& most) override {
    for (std::uint32_t i = 0; i < most.frames && !coming_.empty(); ++i) {
      const auto& bytes = given_.emplace_back(std::move(coming_.front()));
      coming_.pop_front();
      wire::MacAddress from;
      std::memcpy(from.bytes.data(), bytes.data() + 6, from.bytes.size());
      port.transmit({bytes, {}, {}}, {.queue_pair = link::kUnknownQpn, .device = from}, now);
    }
  }
  void release() override { given_.clear(); }
  std::uint32_t unreleased() const override { return static_cast<std::uint32_t>(given_.size()); }
  void arrive(const wire::Frame& frame, const link::PacketOrigin&) override {
    auto& bytes = leaving_.emplace_back();
    for (const auto piece : {frame.headers, frame.payload, frame.trailer})
      bytes.insert(bytes.end(), piece.begin(), piece.end());
  }
  void flush() override {
    for (auto& bytes : leaving_) other_->coming_.push_back(std::move(bytes));
    leaving_.clear();
  }

 private:
  OuterEnd* other_ = nullptr;
  std::vector<std::vector<std::byte>> leaving_;
  std::deque<std::vector<std::byte>> coming_;
  std::deque<std::vector<std::byte>> given_;
};

// Two programs whose devices are behind one uplink, on an engine that others may share.
struct Pair {
  Pair(Engine& its_engine, link::Uplink& uplink, std::uint8_t first)
      : engine(its_engine),
        device0(device_config(first), engine.data_path(), uplink),
        device1(device_config(static_cast<std::uint8_t>(first + 1)), engine.data_path(), uplink),
        program0(engine, device0),
        program1(engine, device1) {
    engine.add_uplink(uplink);
    Fabric::connect(qp0, qp1);
  }

  bool round() {
    const bool rung = (program0.doorbell_set.collect() + program1.doorbell_set.collect()) != 0;
    return engine.data_path().round() || rung;
  }
  void write(std::uint32_t length, std::uint8_t seed) {
    program0.fill(0, length, seed);
    abi::SendWqe head = wqe(abi::SendOpcode::rdma_write);
    head.remote_address = program1.address(0);
    head.rkey = program1.key.value;
    const abi::ScatterGather from[] = {program0.sge(0, length)};
    qp0.post_send(head, from);
  }
  void check(std::uint32_t length, std::uint8_t seed) {
    const auto entry = qp0.send_cq.poll();
    BOOST_REQUIRE(entry);
    BOOST_TEST(entry->status == 0);
    BOOST_TEST(program1.holds(0, length, seed));
  }

  Engine& engine;
  Device device0;
  Device device1;
  Program program0;
  Program program1;
  TestQp qp0{program0, 0, {}};
  TestQp qp1{program1, 1, {}};
};

}  // namespace uplink

BOOST_AUTO_TEST_SUITE(uplink)

BOOST_AUTO_TEST_CASE(a_device_works_behind_any_uplink) {
  Engine engine({});
  Cable cable;
  Pair pair(engine, cable, 1);
  pair.write(10'000, 5);
  while (pair.round()) continue;
  pair.check(10'000, 5);
  BOOST_TEST(cable.passed >= 11u);  // ten packets and an acknowledgement
  BOOST_TEST((engine.data_path().pools() == kPoolsAtRest));
}

BOOST_AUTO_TEST_CASE(uplinks_of_one_engine_work_side_by_side) {
  Engine engine({});
  Cable cable;
  link::Switch frame_switch;
  Pair over_cable(engine, cable, 1);
  Pair over_switch(engine, frame_switch, 3);
  over_cable.write(100'000, 5);
  over_switch.write(100'000, 6);
  while (over_cable.round() || over_switch.round()) continue;
  over_cable.check(100'000, 5);
  over_switch.check(100'000, 6);
  BOOST_TEST((engine.data_path().pools() == kPoolsAtRest));
}

BOOST_AUTO_TEST_CASE(devices_of_two_processes_are_connected_by_outer_ports) {
  Engine engine({});
  link::Switch frame_switch;
  OuterEnd ends[2];
  ends[0].join(ends[1]);
  ends[1].join(ends[0]);
  Pair pair(engine, frame_switch, 1);
  frame_switch.connect(0, ends[0]);
  frame_switch.connect(1, ends[1]);
  pair.write(100'000, 5);
  while (pair.round()) continue;
  pair.check(100'000, 5);
  BOOST_TEST(pair.device1.port_counters().received_packets >= 98u);
  BOOST_TEST(pair.device1.port_counters().wrong_origin == 0u);
  BOOST_TEST((engine.data_path().pools() == kPoolsAtRest));
}

// A device takes its tables, and nothing of an engine's: simulations have thousands.
BOOST_AUTO_TEST_CASE(thousands_of_devices_take_part_in_one_data_path) {
  Engine engine({});
  link::Switch frame_switch;
  std::vector<std::unique_ptr<Device>> crowd;
  for (std::uint32_t i = 0; i < 3000; ++i) {
    DeviceConfig config = device_config(9);
    config.mac = {{2, 1, 0, 0, static_cast<std::uint8_t>(i >> 8), static_cast<std::uint8_t>(i)}};
    config.max_qp = 16;
    config.max_memory_keys = 16;
    config.max_address_handles = 16;
    crowd.push_back(std::make_unique<Device>(config, engine.data_path(), frame_switch));
  }
  Pair pair(engine, frame_switch, 1);
  pair.write(10'000, 7);
  while (pair.round()) continue;
  pair.check(10'000, 7);
}

// A queue pair in the device process itself: it takes datagrams to QP1, and answers each.
BOOST_AUTO_TEST_CASE(a_management_receiver_has_the_datagrams_to_its_number) {
  struct Echo final : ManagementReceiver {
    explicit Echo(Device& its_device) : device(its_device) {}
    void receive(const transport::InboundPacket& packet, const wire::NetworkHeaders& network) override {
      ++received;
      bytes = packet.payload.size();
      wire::NetworkHeaders back = network;
      std::swap(back.source, back.destination);
      std::swap(back.source_mac, back.destination_mac);
      wire::TransportHeaders headers = packet.headers;
      headers.bth.destination = packet.headers.deth.source;
      headers.deth.source = wire::Qpn{1};
      wire::FrameStorage storage;
      const wire::Frame frame = wire::encode(back, headers, packet.payload, storage);
      device.resources().port.transmit(frame, {.device = device.config().mac}, {});
    }
    Device& device;
    int received = 0;
    std::size_t bytes = 0;
  };

  Fabric fabric;
  TestQp qp(fabric.program0, 0, {.service = transport::QpService::ud});
  for (const auto state : {transport::QpState::init, transport::QpState::rtr, transport::QpState::rts}) {
    transport::QpParameters parameters;
    parameters.path_mtu = 1024;
    fabric.engine.execute([&] { qp.device_end().modify(state, parameters, std::nullopt); });
  }
  const abi::ScatterGather to[] = {fabric.program0.sge(4096, 1024)};
  qp.post_receive(to);
  abi::SendWqe head = wqe(abi::SendOpcode::send);
  head.address_handle = fabric.device0.address_handles()
                            .add(std::make_unique<AddressHandle>(
                                fabric.program0.pd, Fabric::path(fabric.device0, fabric.device1)))
                            .value();
  head.remote_qpn = 1;
  const abi::ScatterGather from[] = {fabric.program0.sge(0, 256)};

  qp.post_send(head, from);
  fabric.run();
  BOOST_TEST(fabric.device1.port_counters().unknown_qp == 1u);

  Echo echo(fabric.device1);
  fabric.device1.set_management_receiver(wire::Qpn{1}, &echo);
  fabric.program0.fill(0, 256, 3);
  qp.post_send(head, from);
  fabric.run();
  BOOST_TEST(echo.received == 1);
  BOOST_TEST(echo.bytes == 256u);
  const auto answer = qp.receive_cq.poll();
  BOOST_REQUIRE(answer);
  BOOST_TEST(answer->status == 0);
  BOOST_TEST(answer->source_qpn == 1u);
  BOOST_TEST(fabric.program0.holds(4096 + 40, 256, 3));
  BOOST_TEST(fabric.device1.port_counters().unknown_qp == 1u);

  fabric.device1.set_management_receiver(wire::Qpn{1}, nullptr);
  qp.post_send(head, from);
  fabric.run();
  BOOST_TEST(echo.received == 1);
  BOOST_TEST(fabric.device1.port_counters().unknown_qp == 2u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
