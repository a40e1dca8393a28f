// A program as the engine sees it, played by the test: memory of its own, queues in plain memory that the
// test writes as a provider does, and pipes for events.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "device_model/abi/doorbells.hpp"
#include "device_model/abi/queues.hpp"
#include "device_model/engine/completion/completion_queue.hpp"
#include "device_model/engine/completion/event_pipe.hpp"
#include "device_model/engine/data_path.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/engine/doorbells/doorbell_set.hpp"
#include "device_model/engine/engine.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "device_model/engine/receives/xrc_domain_members.hpp"
#include "device_model/link/switch.hpp"
#include "tests/unit/memory/in_process_memory.hpp"

namespace urnic::engine::test {

// A pipe whose records the test reads without waiting.
class TestPipe {
 public:
  explicit TestPipe(std::size_t record);
  EventPipe& device_end() { return *pipe_; }
  struct Record {
    std::uint64_t element = 0;
    std::uint32_t type = 0;
  };
  std::optional<Record> read();
  int read_descriptor() const { return read_end_.get(); }
  void close_read_end() { read_end_.reset(); }

 private:
  std::size_t record_;
  memory::Descriptor read_end_;
  std::unique_ptr<EventPipe> pipe_;
};

// A CQE, copied out.
struct Polled {
  std::uint32_t qpn = 0;
  std::uint32_t wqe_index = 0;
  std::uint8_t opcode = 0;
  std::uint8_t status = 0;
  std::uint8_t flags = 0;
  std::uint8_t tag_flags = 0;
  std::uint32_t byte_length = 0;
  std::uint32_t immediate_or_rkey = 0;
  std::uint32_t source_qpn = 0;
  std::array<std::uint8_t, abi::kCqeInlineBytes> inline_data{};
};

// A completion queue, polled as a provider does.
class TestCq {
 public:
  TestCq(std::uint32_t slots, EventPipe* channel, EventPipe* async_events, std::uint64_t user_handle);

  std::optional<Polled> poll();
  void arm(abi::ArmKind kind);

  std::vector<abi::Cqe> ring;
  abi::CompletionQueueIndices indices{};
  std::uint32_t slots;
  std::uint32_t consumer = 0;
  std::unique_ptr<CompletionQueue> device_end;

 private:
  std::uint32_t requests_ = 0;
};

// The head of a send WQE with nothing but these.
inline abi::SendWqe wqe(abi::SendOpcode opcode, std::uint8_t flags = abi::send_signaled) {
  abi::SendWqe head{};
  head.opcode = static_cast<std::uint8_t>(opcode);
  head.flags = flags;
  return head;
}

struct QpLayout {
  std::uint32_t send_slots = 64;
  std::uint32_t send_slot_size = 256;
  std::uint32_t receive_slots = 64;
  std::uint32_t receive_slot_size = 128;
  bool signal_all = false;
  std::uint32_t ordinal = 1;
  std::uint32_t context = 0;
  transport::QpService service = transport::QpService::rc;
  SharedReceiveQueue* srq = nullptr;
  TagMatching* tags = nullptr;      // of that SRQ
  XrcDomain* xrc_domain = nullptr;  // for an XRC target

  bool has_own_cqs() const { return tags == nullptr && xrc_domain == nullptr; }
};

class Program;

class TestQp {
 public:
  TestQp(Program& program, std::uint32_t doorbell, const QpLayout& layout);
  ~TestQp();

  // Writes a WQE at the producer index; `behind` are the bytes after its head.
  void write_send(const abi::SendWqe& head, std::span<const std::byte> behind);
  void write_receive(std::span<const abi::ScatterGather> sges);
  // Publishes what was written and rings.
  void ring();
  void post_send(const abi::SendWqe& head, std::span<const abi::ScatterGather> sges);
  void post_inline(abi::SendWqe head, std::span<const std::byte> data);
  void post_receive(std::span<const abi::ScatterGather> sges);
  // Polls the receive CQ, and puts data that travelled in the CQE where the WQE says.
  std::optional<Polled> poll_receive();

  // To RTS, towards `peer`.
  void connect_to(TestQp& peer, std::uint32_t path_mtu);
  QueuePairContext& device_end() { return *hosted_; }
  wire::Qpn qpn() const { return hosted_->qpn(); }

  const QpLayout layout;
  std::vector<std::byte> send_slots;
  std::vector<std::byte> receive_slots;
  abi::QueuePairIndices indices{};
  std::uint32_t send_producer = 0;
  std::uint32_t receive_producer = 0;
  TestCq send_cq;
  TestCq receive_cq;

 private:
  Program& program_;
  std::uint32_t doorbell_;
  std::unique_ptr<QueuePairContext> hosted_;
};

class Program {
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
  Device& device;
  std::vector<std::byte> bytes;
  memory::InProcessMemory memory;
  transport::PdId pd{7};
  transport::Lkey key;
  transport::Lkey private_key;
  bool several_processes = false;
  TestPipe channel{8};
  TestPipe async_events{16};
  memory::Descriptor wake;
  std::unique_ptr<abi::Doorbells> doorbells;
  DoorbellSet doorbell_set;
};

// Of device "testN", at 192.0.2.N.
DeviceConfig device_config(std::uint8_t number);

// Two devices on one switch, two programs, and an engine whose rounds and clock the test moves.
class Fabric {
 public:
  Fabric();
  ~Fabric();

  // Connects two QPs in RTS.
  static void connect(TestQp& one, TestQp& other, std::uint32_t path_mtu = 1024);
  static transport::QpParameters parameters(const TestQp& peer, std::uint32_t path_mtu);
  static wire::NetworkHeaders path(const Device& from, const Device& to);

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
