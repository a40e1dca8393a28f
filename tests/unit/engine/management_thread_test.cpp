// Management datagrams beside an engine's own thread.
#include <sched.h>

#include <atomic>
#include <thread>

#include "device_model/memory/process_memory.hpp"
#include "tests/unit/engine/managed.hpp"
#include "tests/unit/engine/two_engines.hpp"

namespace urnic::engine::test {

namespace {

// The memory of a program. Remembers which thread has written to it.
class WatchedMemory final : public memory::ApplicationMemory {
 public:
  explicit WatchedMemory(Program& program) : program_(program) {
    key = *program.device.memory_table().add_region(
        {.memory = this,
         .pd = program.pd,
         .address = program.address(0),
         .iova = program.address(0),
         .length = program.bytes.size(),
         .access = memory::access_local_write | memory::access_remote_write});
  }
  ~WatchedMemory() { program_.device.memory_table().remove_region(key); }

  void read(std::span<memory::Transfer> batch) override { program_.memory.read(batch); }
  void write(std::span<memory::Transfer> batch) override {
    writer = std::this_thread::get_id();
    program_.memory.write(batch);
  }
  bool owner_lives() override { return true; }
  const char* way() const override { return "watched"; }

  transport::Lkey key;
  std::atomic<std::thread::id> writer{};

 private:
  Program& program_;
};

// The second engine runs; what comes from the first does not wake it.
struct Beside : TwoEngines {
  ManagementTraffic traffic;
  ManagementQueuePair general{device1.resources(), traffic};
  TestQp qp0{program0, 0, {}};
  TestQp qp1{program1, 0, {}};
  WatchedMemory memory{program1};

  Beside() {
    Fabric::connect(qp0, qp1);
    device1.set_management_receiver(kGeneralServicesQpn, &general);
    engine1.set_management(traffic);
    wakes_engine1 = false;
    engine1.start();
  }
  ~Beside() { engine1.stop(); }

  void write_to_second() {
    abi::SendWqe head = wqe(abi::SendOpcode::rdma_write);
    head.remote_address = program1.address(0);
    head.rkey = memory.key.value;
    const std::uint64_t word = 7;
    qp0.post_inline(head, std::as_bytes(std::span(&word, 1)));
    while (round0()) continue;
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(management_threads, Managed)

BOOST_AUTO_TEST_CASE(a_sleeping_engine_is_woken_and_wakes_the_control_thread) {
  engine.set_management(traffic);
  engine.start();
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    post(7);
    engine.wake();
    pollfd look{traffic.arrival_descriptor(), POLLIN, 0};
    BOOST_REQUIRE(poll(&look, 1, 10'000) == 1);
    BOOST_TEST(take_all() == 1u);
  }
}

// Two threads would have to be woken otherwise.
BOOST_AUTO_TEST_CASE(mads_go_without_the_thread_of_an_engine_that_rests) {
  engine.set_management(traffic);
  engine.start();
  std::uint32_t at_once = 0;
  for (std::uint32_t i = 0; i < 200; ++i) {
    post(7);
    engine.send_management();
    if (readable(traffic.arrival_descriptor())) ++at_once;
    pollfd look{traffic.arrival_descriptor(), POLLIN, 0};
    BOOST_REQUIRE(poll(&look, 1, 10'000) == 1);
    BOOST_TEST(take_all() == 1u);
  }
  // A busy machine may keep the thread awake now and then.
  BOOST_TEST(at_once > 100u);
  engine.stop();
  BOOST_TEST((engine.data_path().pools() == kPoolsAtRest));
  BOOST_TEST(device1.port_counters().received_packets == 200u);
}

// A MAD for a program's queue pair is written into its memory, which may not answer: not by the control
// thread.
BOOST_AUTO_TEST_CASE(a_mad_for_a_program_is_left_to_the_engines_thread) {
  TestQp qp(program1, 0, {.service = transport::QpService::ud});
  transport::QpParameters parameters;
  parameters.path_mtu = 1024;
  parameters.qkey = kManagementQkey;
  for (const auto state : {transport::QpState::init, transport::QpState::rtr, transport::QpState::rts}) {
    engine.execute([&] { qp.device_end().modify(state, parameters, std::nullopt); });
  }
  engine.set_management(traffic);
  engine.start();
  const abi::ScatterGather to[] = {program1.sge(4096, 1024)};
  for (int i = 0; i < 50; ++i) {
    qp.post_receive(to);
    BOOST_REQUIRE(qp0.post(path(device0, device1), qp.qpn(), wire::Pkey{}, mad_of(5)));
    engine.send_management();
    std::optional<Polled> received;
    while (!(received = qp.receive_cq.poll())) sched_yield();
    BOOST_TEST(received->byte_length == 40 + kMadBytes);
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(management_beside_other_engines, Beside)

// As above: the packet of another engine's device is for a program.
BOOST_AUTO_TEST_CASE(what_comes_from_other_engines_is_left_to_the_engines_thread) {
  for (int i = 0; i < 20; ++i) {
    write_to_second();
    BOOST_REQUIRE(general.post(Fabric::path(device1, device1), kGeneralServicesQpn, wire::Pkey{}, mad_of(1)));
    engine1.send_management();
    engine1.wake();
    while (!qp0.send_cq.poll()) {
      round0();
      sched_yield();
    }
    BOOST_REQUIRE((memory.writer.load() != std::this_thread::get_id()));
  }
}

// An engine may sleep before the other one has released its last frame, and nothing wakes it for that. Tests
// and people ask for its pools, and want to see them at rest.
BOOST_AUTO_TEST_CASE(an_engine_that_sleeps_takes_back_its_frames_when_it_is_asked) {
  write_to_second();
  engine1.wake();
  for (bool sent = false; !sent; sched_yield())
    engine1.execute([&] { sent = engine1.data_path().pools().frames_lent != 0; });
  while (engine1.has_to_move()) sched_yield();
  while (!qp0.send_cq.poll()) round0();
  while (round0()) continue;

  EnginePools pools;
  engine1.execute([&] { pools = engine1.data_path().pools(); });
  BOOST_TEST((pools == kPoolsAtRest));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
