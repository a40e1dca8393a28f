// A program as the engine sees it, played by the test: memory of its own, queues in plain memory that the
// test writes as a provider does, and pipes for events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device_model/abi/doorbells.hpp"
#include "device_model/abi/queues.hpp"
#include "device_model/engine/completion/completion_queue.hpp"
#include "device_model/engine/completion/event_pipe.hpp"
#include "device_model/engine/data_path.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/engine/engine.hpp"
#include "device_model/engine/receives/xrc_domain_members.hpp"
#include "device_model/in_process/in_process_memory.hpp"
#include "device_model/in_process/queue_pair_end.hpp"
#include "device_model/link/switch.hpp"

namespace urnic::engine::test {

using TestPipe = in_process::EventPipeEnd;
using TestCq = in_process::CompletionQueueEnd;
using Polled = in_process::PolledCompletion;
using QpLayout = in_process::QueuePairLayout;
using in_process::wqe;

class Program;

// A queue pair that is the engine's as long as it exists.
class TestQp : public in_process::QueuePairEnd {
 public:
  TestQp(Program& program, std::uint32_t doorbell, const QpLayout& layout);
  ~TestQp();

  // To RTS, towards `peer`.
  void connect_to(TestQp& peer, std::uint32_t path_mtu);

 private:
  Program& program_;
};

class Program : public in_process::ContextEnd {
 public:
  static constexpr std::size_t kBytes = 1 << 20;

  // On `device`; a region over all of `bytes`, which remote QPs may use in every way, and one that they may
  // not use at all.
  Program(Engine& engine, Device& device);
  ~Program();

  std::uint64_t address(std::size_t offset) const {
    return reinterpret_cast<std::uintptr_t>(bytes.data()) + offset;
  }
  abi::ScatterGather sge(std::size_t offset, std::uint32_t length) const {
    return {address(offset), length, key.value};
  }
  abi::ScatterGather private_sge(std::size_t offset, std::uint32_t length) const {
    return {address(offset), length, private_key.value};
  }
  void fill(std::size_t offset, std::size_t length, std::uint8_t seed);
  bool holds(std::size_t offset, std::size_t length, std::uint8_t seed) const;

  Engine& engine;
  std::vector<std::byte> bytes;
  memory::InProcessMemory memory;
  transport::Lkey key;
  transport::Lkey private_key;
};

// Posts a WRITE of the first `length` bytes of `from`'s memory to the first of `to`'s.
void post_write(TestQp& sender, Program& from, Program& to, std::uint32_t length);

// Of device "testN", at 192.0.2.N.
DeviceConfig device_config(std::uint8_t number);
// The same as an InfiniBand port, with a link-local GID.
DeviceConfig infiniband_config(std::uint8_t number);
// The LID that this device has in a fabric of InfiniBand.
wire::Lid lid_of(const Device& device);

// Two devices on one switch, Ethernet's or InfiniBand's, two programs, and an engine whose rounds and clock
// the test moves.
class Fabric {
 public:
  explicit Fabric(wire::LinkLayer link_layer = wire::LinkLayer::ethernet);
  ~Fabric();

  // Connects two QPs in RTS.
  static void connect(TestQp& one, TestQp& other, std::uint32_t path_mtu = 1024);
  static transport::QpParameters parameters(const TestQp& peer, std::uint32_t path_mtu);
  static wire::NetworkHeaders path(const Device& from, const Device& to);
  // What a subnet manager would have written of the two InfiniBand ports, 1 and 2 of a switch.
  void route();

  // Rounds until nothing is left to do.
  void run();
  void advance(transport::Nanoseconds span);

  Engine engine;
  link::Switch frame_switch;
  Device device0;
  Device device1;
  Program program0;
  Program program1;
};

}  // namespace urnic::engine::test
