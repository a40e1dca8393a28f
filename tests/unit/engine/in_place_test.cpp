// Payload that the device has mapped is sent from where it lies, if nobody but its receiver reads it on the
// way.
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <functional>
#include <string>

#include "tests/unit/engine/program.hpp"

namespace urnic::engine::test {

namespace {

// Memory of this process that shows its bytes, and counts how they are reached.
class ShownMemory final : public memory::ApplicationMemory {
 public:
  void read(std::span<memory::Transfer> batch) override {
    for (memory::Transfer& each : batch) {
      std::memcpy(each.local.data(), reinterpret_cast<const void*>(each.address), each.local.size());
      each.failed = false;
      ++copies;
    }
  }
  void write(std::span<memory::Transfer> batch) override {
    for (memory::Transfer& each : batch) {
      std::memcpy(reinterpret_cast<void*>(each.address), each.local.data(), each.local.size());
      each.failed = false;
    }
  }
  const std::byte* in_place(std::uint64_t address, std::uint32_t) override {
    ++places;
    return reinterpret_cast<const std::byte*>(address);
  }
  std::uint64_t* word_in_place(std::uint64_t address) override {
    ++words;
    return reinterpret_cast<std::uint64_t*>(address);
  }
  const char* way() const override { return "shown"; }

  int copies = 0;
  int places = 0;
  int words = 0;
};

struct Observer final : link::FrameObserver {
  int frames = 0;
  std::size_t bytes = link::kNeverInPlace;
  std::size_t reach() const override { return bytes; }
  void observe(const link::Observation&) override { ++frames; }
};

struct InPlace : Fabric {
  static constexpr std::uint32_t kLength = 10'000;
  static constexpr int kPackets = 10;

  ShownMemory shown0, shown1;
  transport::Lkey key0 = add(device0, program0, shown0);
  transport::Lkey key1 = add(device1, program1, shown1);

  static transport::Lkey add(Device& device, Program& program, ShownMemory& memory) {
    const auto key = device.memory_table().add_region(
        {.memory = &memory,
         .pd = program.pd,
         .address = program.address(0),
         .iova = program.address(0),
         .length = Program::kBytes,
         .access = memory::access_local_write | memory::access_remote_write | memory::access_remote_read |
                   memory::access_remote_atomic});
    BOOST_REQUIRE(key.has_value());
    return *key;
  }
  abi::ScatterGather sge0(std::size_t offset, std::uint32_t length) const {
    return {program0.address(offset), length, key0.value};
  }

  void write(TestQp& qp) {
    abi::SendWqe head = wqe(abi::SendOpcode::rdma_write);
    head.remote_address = program1.address(0);
    head.rkey = key1.value;
    const abi::ScatterGather from[] = {sge0(0, kLength)};
    qp.post_send(head, from);
  }
  void send(TestQp& from, TestQp& to) {
    const abi::ScatterGather where[] = {program1.sge(0, kLength)};
    to.post_receive(where);
    const abi::ScatterGather what[] = {sge0(0, kLength)};
    from.post_send(wqe(abi::SendOpcode::send), what);
  }
  void read(TestQp& qp) {
    abi::SendWqe head = wqe(abi::SendOpcode::rdma_read);
    head.remote_address = program1.address(0);
    head.rkey = key1.value;
    const abi::ScatterGather to[] = {sge0(0, kLength)};
    qp.post_send(head, to);
  }
  void finish(TestQp& qp) {
    for (int i = 0; i < 100'000; ++i) {
      run();
      if (const auto entry = qp.send_cq.poll()) {
        BOOST_TEST(entry->status == 0);
        return;
      }
      advance(transport::Nanoseconds(10'000));
    }
    BOOST_FAIL("it never completes");
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(in_place, InPlace)

BOOST_AUTO_TEST_CASE(each_request_with_payload) {
  TestQp qp0{program0, 3, {}}, qp1{program1, 70, {}};
  connect(qp0, qp1);
  program0.fill(0, kLength, 1);
  write(qp0);
  finish(qp0);
  BOOST_TEST(program1.holds(0, kLength, 1));
  program0.fill(0, kLength, 2);
  send(qp0, qp1);
  finish(qp0);
  BOOST_TEST(program1.holds(0, kLength, 2));
  BOOST_TEST(shown0.places == 2 * kPackets);
  program1.fill(0, kLength, 3);
  read(qp0);
  finish(qp0);
  BOOST_TEST(program0.holds(0, kLength, 3));
  BOOST_TEST(shown1.places == kPackets);
  BOOST_TEST(shown0.copies + shown1.copies == 0);
}

BOOST_AUTO_TEST_CASE(atomics_change_the_word_where_it_is) {
  TestQp qp0{program0, 3, {}}, qp1{program1, 70, {}};
  connect(qp0, qp1);
  auto* const target = reinterpret_cast<std::uint64_t*>(program1.address(64));
  const auto* const original = reinterpret_cast<const std::uint64_t*>(program0.address(128));
  *target = 40;
  const struct {
    abi::SendOpcode opcode;
    std::uint64_t compare_add, swap, original, after;
  } cases[] = {
      {abi::SendOpcode::atomic_fetch_add, 2, 0, 40, 42},
      {abi::SendOpcode::atomic_compare_swap, 41, 7, 42, 42},
      {abi::SendOpcode::atomic_compare_swap, 42, 7, 42, 7},
  };
  for (const auto& each : cases) {
    abi::SendWqe head = wqe(each.opcode);
    head.remote_address = program1.address(64);
    head.rkey = key1.value;
    head.compare_add = each.compare_add;
    head.swap = each.swap;
    const abi::ScatterGather to[] = {sge0(128, 8)};
    qp0.post_send(head, to);
    finish(qp0);
    BOOST_TEST(*original == each.original);
    BOOST_TEST(*target == each.after);
  }
  BOOST_TEST(shown1.words == 3);
  BOOST_TEST(shown1.copies == 0);
}

// The bytes of several segments must become one payload.
BOOST_AUTO_TEST_CASE(a_packet_of_several_segments_is_gathered) {
  TestQp qp0{program0, 3, {}}, qp1{program1, 70, {}};
  connect(qp0, qp1);
  program0.fill(100, 300, 4);
  program0.fill(500, 300, 5);
  abi::SendWqe head = wqe(abi::SendOpcode::rdma_write);
  head.remote_address = program1.address(100);
  head.rkey = key1.value;
  const abi::ScatterGather from[] = {sge0(100, 300), sge0(500, 300)};
  qp0.post_send(head, from);
  finish(qp0);
  BOOST_TEST(program1.holds(100, 300, 4));
  BOOST_TEST(program1.holds(400, 300, 5));
  BOOST_TEST(shown0.copies == 2);
}

// A lost packet is read again when it is sent again, and nobody else has read it.
BOOST_AUTO_TEST_CASE(on_links_that_lose) {
  for (const std::uint32_t each : {0u, 1u})
    frame_switch.link(each).configure(link::Direction::receive, {.loss = 0.1});
  TestQp qp0{program0, 3, {}}, qp1{program1, 70, {}};
  connect(qp0, qp1);
  constexpr int kRounds = 20;
  for (std::uint8_t seed = 1; seed <= 3 * kRounds; ++seed) {
    const bool reads = seed % 3 == 0;
    (reads ? program1 : program0).fill(0, kLength, seed);
    if (reads) {
      read(qp0);
    } else if (seed % 3 == 1) {
      write(qp0);
    } else {
      send(qp0, qp1);
    }
    finish(qp0);
    BOOST_TEST((reads ? program0 : program1).holds(0, kLength, seed));
  }
  BOOST_TEST(shown0.places > 2 * kRounds * kPackets);
  BOOST_TEST(shown1.places >= kRounds * kPackets);
  BOOST_TEST(shown0.copies + shown1.copies == 0);
}

// Whoever looks at a frame on its way, keeps it, or changes it reads the payload a second time; and a
// datagram is complete before its receiver has read it.
BOOST_AUTO_TEST_CASE(where_others_read_it_too_it_is_copied_first) {
  Observer observer;
  const auto slow = [](link::Link& link, link::Direction direction) {
    link.channel(direction);
    link.configure(direction, {.delay = transport::Nanoseconds(1000)});
  };
  const struct {
    std::string name;
    QpLayout layout;
    std::function<void()> begin, end;
  } cases[] = {
      {"an observer",
       {},
       [&] { frame_switch.add_observer(observer); },
       [&] { frame_switch.remove_observer(observer); }},
      {"a slow link of the sender",
       {},
       [&] { slow(frame_switch.link(0), link::Direction::transmit); },
       [&] { frame_switch.link(0).configure(link::Direction::transmit, {}); }},
      {"a slow link of the receiver",
       {},
       [&] { slow(frame_switch.link(1), link::Direction::receive); },
       [&] { frame_switch.link(1).configure(link::Direction::receive, {}); }},
      {"an unreliable connection", {.service = transport::QpService::uc}, [] {}, [] {}},
  };
  std::uint8_t seed = 10;
  std::uint32_t doorbell = 3;
  for (const auto& each : cases) {
    BOOST_TEST_CONTEXT(each.name) {
      TestQp qp0{program0, doorbell, each.layout}, qp1{program1, doorbell, each.layout};
      ++doorbell;
      connect(qp0, qp1);
      each.begin();
      shown0.copies = shown0.places = 0;
      program0.fill(0, kLength, ++seed);
      write(qp0);
      finish(qp0);
      for (int i = 0; i < 100 && !program1.holds(0, kLength, seed); ++i)
        advance(transport::Nanoseconds(10'000));
      BOOST_TEST(program1.holds(0, kLength, seed));
      BOOST_TEST(shown0.places == 0);
      BOOST_TEST(shown0.copies > 0);
      each.end();
      shown0.copies = 0;
      if (each.layout.service != transport::QpService::rc) continue;
      write(qp0);
      finish(qp0);
      BOOST_TEST(shown0.copies == 0);
      BOOST_TEST(shown0.places == kPackets);
    }
  }
}

// What it captures of a packet ends before the ICRC, or the packet is copied first.
BOOST_AUTO_TEST_CASE(a_cut_capture_leaves_long_payloads_where_they_are) {
  Observer observer;
  observer.bytes = 128;
  TestQp qp0{program0, 3, {}}, qp1{program1, 70, {}};
  connect(qp0, qp1);
  frame_switch.add_observer(observer);
  program0.fill(0, kLength, 1);
  write(qp0);
  finish(qp0);
  BOOST_TEST(program1.holds(0, kLength, 1));
  BOOST_TEST(shown0.places == kPackets);
  BOOST_TEST(shown0.copies == 0);
  BOOST_TEST(observer.frames >= 2 * kPackets);
  const struct {
    std::uint32_t length;
    bool is_copied;
  } cases[] = {{128, false}, {127, true}, {8, true}};
  for (const auto& each : cases) {
    shown0.copies = shown0.places = 0;
    abi::SendWqe head = wqe(abi::SendOpcode::rdma_write);
    head.remote_address = program1.address(0);
    head.rkey = key1.value;
    const abi::ScatterGather from[] = {sge0(0, each.length)};
    qp0.post_send(head, from);
    finish(qp0);
    BOOST_TEST(shown0.copies == (each.is_copied ? 1 : 0));
  }
  frame_switch.remove_observer(observer);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
