// The engine's pool of packets that wait for their turn: its slots live as long as the lists of actions need
// them, and come back from queue pairs that go.
#include "device_model/transport/responder/reorder_buffer.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <vector>

#include "device_model/engine/data_path.hpp"
#include "device_model/link/observation.hpp"
#include "tests/unit/engine/program.hpp"
#include "wire/aeth.hpp"
#include "wire/frame.hpp"

namespace urnic::engine::test {

namespace reorder_buffer {

constexpr std::uint32_t kFirst = 0xFFFFF0;
constexpr std::uint32_t kLength = 1024;

struct Holding : Fabric {
  std::unique_ptr<TestQp> qp0 = std::make_unique<TestQp>(program0, 0, QpLayout{});
  std::unique_ptr<TestQp> qp1 = std::make_unique<TestQp>(program1, 1, QpLayout{});
  std::vector<std::byte> payload = std::vector<std::byte>(kLength);

  Holding() {
    connect(*qp0, *qp1);
    qp1->device_end().set_recovery({.mode = transport::RecoveryMode::sack});
  }

  const transport::ReorderPool& pool() { return engine.data_path().reorder_pool(); }

  // Write number `index`, to a place of its own, as if qp0 had sent it: its bytes are in the engine's staging
  // until the batch ends.
  void arrive(std::uint32_t index, transport::SelectiveAcks selective_acks = transport::SelectiveAcks::no) {
    wire::TransportHeaders headers;
    headers.bth.opcode = wire::Opcode(wire::Service::rc, wire::Operation::write_only);
    headers.bth.destination = qp1->qpn();
    headers.bth.psn = wire::Psn(kFirst + index);
    headers.reth = {program1.address(std::size_t{index} * kLength), wire::Rkey{program1.key.value}, kLength};
    std::fill(payload.begin(), payload.end(), static_cast<std::byte>(index + 1));
    wire::FrameStorage storage;
    const wire::Frame frame = wire::encode(path(device0, device1), headers, payload, storage);
    std::byte* const bytes =
        engine.data_path().filling().arena->take(static_cast<std::uint32_t>(frame.size()));
    BOOST_REQUIRE(bytes != nullptr);
    std::byte* to = bytes;
    for (const auto& piece : {frame.headers, frame.payload, frame.trailer})
      to = std::copy(piece.begin(), piece.end(), to);
    device1.receiver().arrive(
        {.headers = {bytes, frame.size()}, .payload = {}, .trailer = {}},
        {.queue_pair = qp0->qpn(), .selective_acks = selective_acks, .device = device0.config().mac});
  }

  bool written(std::uint32_t index) {
    const std::byte* const at = program1.bytes.data() + std::size_t{index} * kLength;
    return std::all_of(at, at + kLength,
                       [=](std::byte one) { return one == static_cast<std::byte>(index + 1); });
  }
};

// The headers of all frames that leave.
struct Departures final : link::FrameObserver {
  std::vector<wire::TransportHeaders> all;
  void observe(const link::Observation& seen) override {
    if (seen.point != link::CapturePoint::before_link) return;
    wire::ParsedFrame parsed;
    BOOST_TEST((wire::parse(seen.frame, parsed) == wire::ParseError::none));
    all.push_back(parsed.transport);
  }
};

}  // namespace reorder_buffer

BOOST_FIXTURE_TEST_SUITE(reorder_buffer, Holding)

BOOST_AUTO_TEST_CASE(what_waits_is_written_when_the_hole_is_filled_and_its_slots_are_free_again) {
  for (std::uint32_t index = 1; index <= 100; ++index) arrive(index);
  run();
  BOOST_TEST(pool().in_use() == 100u);
  BOOST_TEST(!written(1));
  arrive(0);
  // The writes are asked for and not yet done: the slots must stay.
  BOOST_TEST(pool().in_use() == 100u);
  run();
  for (std::uint32_t index = 0; index <= 100; ++index) BOOST_TEST(written(index));
  BOOST_TEST(pool().in_use() == 0u);
  BOOST_TEST(device1.counters().held_packets == 100u);
  BOOST_TEST(device1.counters().held_discards == 0u);
}

// Each in an arena of its own as long as there are some, then in a copy.
BOOST_AUTO_TEST_CASE(what_waits_in_many_batches_is_kept_as_it_arrived) {
  constexpr std::uint32_t kBatches = 3 * StagingArenas::kArenas;
  for (std::uint32_t index = 1; index <= kBatches; ++index) {
    arrive(2 * index - 1);
    run();
  }
  for (std::uint32_t index = 0; index <= kBatches; ++index) {
    arrive(2 * index);
    run();
  }
  for (std::uint32_t index = 0; index <= 2 * kBatches; ++index) BOOST_TEST(written(index), "write " << index);
  BOOST_TEST(pool().in_use() == 0u);
}

BOOST_AUTO_TEST_CASE(holes_filled_and_opened_in_one_round_do_not_share_slots) {
  for (std::uint32_t index = 1; index < 40; index += 2) {
    arrive(index);
    arrive(index - 1);
  }
  run();
  for (std::uint32_t index = 0; index < 40; ++index) BOOST_TEST(written(index));
  BOOST_TEST(pool().in_use() == 0u);
}

BOOST_AUTO_TEST_CASE(a_queue_pair_that_goes_gives_its_slots_back) {
  for (std::uint32_t index = 1; index <= 10; ++index) arrive(index);
  run();
  qp1.reset();
  run();
  BOOST_TEST(pool().in_use() == 0u);
}

// What is missing is to leave ahead of what would have to be held behind it. Both devices have the same
// engine.
BOOST_AUTO_TEST_CASE(the_news_of_a_hole_leave_in_a_round_without_requests) {
  TestQp one(program0, 2, {}), other(program1, 3, {});
  connect(one, other);
  std::uint32_t index = 0;
  for (const auto selective_acks : {transport::SelectiveAcks::no, transport::SelectiveAcks::yes}) {
    run();
    Departures departures;
    frame_switch.add_observer(departures);
    abi::SendWqe write = wqe(abi::SendOpcode::rdma_write);
    write.remote_address = program1.address(Program::kBytes / 2);
    write.rkey = program1.key.value;
    one.post_inline(write, std::span<const std::byte>(payload).first(8));
    write.remote_address = program0.address(Program::kBytes / 2);
    write.rkey = program0.key.value;
    other.post_inline(write, std::span<const std::byte>(payload).first(8));
    program0.doorbell_set.collect();
    program1.doorbell_set.collect();
    arrive(index + 1, selective_acks);
    engine.data_path().round();
    BOOST_TEST_REQUIRE(departures.all.size() == 1u);
    const wire::TransportHeaders& news = departures.all[0];
    BOOST_TEST((news.bth.opcode.operation() == wire::Operation::acknowledge));
    BOOST_TEST((wire::kind(news.aeth.syndrome) == wire::AethKind::nak));
    BOOST_TEST(news.bth.psn.value() == wire::Psn(kFirst + index).value());
    const bool selective = news.bth.opcode == wire::kSelectiveAcknowledge;
    BOOST_TEST(selective == (selective_acks == transport::SelectiveAcks::yes));
    engine.data_path().round();
    BOOST_TEST(departures.all.size() == 3u);  // and now the requests
    frame_switch.remove_observer(departures);
    arrive(index, selective_acks);  // the hole is filled
    index += 2;
  }
}

BOOST_AUTO_TEST_CASE(without_a_recovery_that_keeps_them_nothing_is_held) {
  qp1->device_end().set_recovery({.mode = transport::RecoveryMode::gbn});
  arrive(1);
  BOOST_TEST(pool().in_use() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
