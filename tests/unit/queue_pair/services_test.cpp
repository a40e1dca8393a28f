// Every kind of request on every transport service, between two machines of the service: it takes effect and
// completes, or it is refused. As ibv_post_send(3) has it in its table of opcodes, except SEND with
// invalidate on UC: IBTA table 38 has no opcode for it.
#define BOOST_TEST_DYN_LINK
#include <array>
#include <bit>
#include <boost/test/unit_test.hpp>
#include <memory>

#include "device_model/transport/reliable/queue_pair.hpp"
#include "device_model/transport/unreliable/raw_packet.hpp"
#include "device_model/transport/unreliable/unreliable_connection.hpp"
#include "device_model/transport/unreliable/unreliable_datagram.hpp"
#include "tests/unit/transport_bench/bench_memory.hpp"
#include "tests/unit/transport_bench/bench_queues.hpp"
#include "tests/unit/transport_bench/recording_host.hpp"

namespace urnic::transport::bench {
namespace {

enum class Service : std::uint8_t { rc, xrc, uc, ud, raw };
constexpr std::array kServices = {Service::rc, Service::xrc, Service::uc, Service::ud, Service::raw};
constexpr std::array kServiceNames = {"RC", "XRC", "UC", "UD", "raw packet"};

constexpr std::uint64_t kMemory = 0x10000;
constexpr std::uint64_t kLocal = kMemory;             // of the request
constexpr std::uint64_t kRemote = kMemory + 0x1000;   // that the request names
constexpr std::uint64_t kReceive = kMemory + 0x2000;  // of the receive
constexpr std::uint32_t kLength = 32;
constexpr std::uint32_t kRegionKey = 0x1234;
constexpr std::uint32_t kInvalidated = 0x5678;
constexpr PdId kPd{7};
constexpr std::uint32_t kAddress = 3;
constexpr std::uint32_t kQkey = 0x11111111;
constexpr wire::Immediate kImmediate{{1, 2, 3, 4}};
constexpr std::uint64_t kWord = 1000;     // at kRemote, of atomics
constexpr std::uint64_t kOperand = 2345;  // swapped in, added, written

struct Address final : DatagramAddress {
  using DatagramAddress::DatagramAddress;
};

class Addresses final : public AddressHandles {
 public:
  const DatagramAddress* find(std::uint32_t number) const override {
    return number == kAddress ? &address_ : nullptr;
  }

 private:
  Address address_{kPd};
};

class Domain final : public XrcReceiveQueues {
 public:
  explicit Domain(ReceiveQueue& queue) : queue_(queue) {}
  std::optional<PdId> select(std::uint32_t) override { return kPd; }
  bool next(ReceiveRequest& request) override { return queue_.next(request); }
  std::uint32_t available() const override { return queue_.available(); }
  void retire(std::uint32_t index) override { queue_.retire(index); }

 private:
  ReceiveQueue& queue_;
};

// One end: a machine of the service and what it works with.
class End {
 public:
  BenchMemory memory{kMemory, 0x4000};
  BenchKeys keys;
  BenchSendQueue sends;
  BenchReceiveQueue receives;
  RecordingHost host;

  End(Service service, bool takes_xrc) {
    keys.add(kRegionKey, kPd, memory);
    QpConfig config = {.qpn = wire::Qpn{0x11},
                       .pd = kPd,
                       .send_slots = 8,
                       .receive_slots = 8,
                       .host = &host,
                       .keys = &keys,
                       .addresses = &addresses_,
                       .send_queue = &sends,
                       .receive_queue = &receives,
                       .counters = &counters_};
    if (service == Service::xrc) config.packets = wire::Service::xrc;
    if (takes_xrc) config.receive_queue = config.xrc_receives = &domain_;
    if (service == Service::uc) unreliable_ = std::make_unique<UnreliableConnection>(config);
    if (service == Service::ud) unreliable_ = std::make_unique<UnreliableDatagram>(config);
    if (service == Service::raw) unreliable_ = std::make_unique<RawPacket>(config);
    if (!unreliable_) reliable_ = std::make_unique<QueuePair>(config);
    QpParameters parameters;
    parameters.access = {true, true, true};
    parameters.max_destination_reads = parameters.max_reads = 4;
    parameters.qkey = kQkey;
    for (const QpState state : {QpState::init, QpState::rtr, QpState::rts}) {
      unreliable_ ? unreliable_->modify(state, parameters) : reliable_->modify(state, parameters, {});
    }
  }

  // Sends what it wants to send to `peer`; false if there was nothing.
  bool send_to(End& peer) {
    while (wants_pump()) unreliable_ ? unreliable_->pump({}, 8) : reliable_->pump({}, 8);
    BOOST_TEST(host.flush().empty());
    const bool any = !host.sent.empty();
    for (const SentPacket& packet : host.sent) {
      peer.take({.headers = packet.headers, .payload = packet.payload, .grh = peer.grh_});
    }
    BOOST_TEST(peer.host.flush().empty());
    host.sent.clear();
    return any;
  }

 private:
  bool wants_pump() const { return unreliable_ ? unreliable_->wants_pump() : reliable_->wants_pump(); }
  void take(const InboundPacket& packet) {
    unreliable_ ? unreliable_->receive(packet) : reliable_->receive(packet, {});
  }

  Counters counters_;
  Addresses addresses_;
  Domain domain_{receives};
  std::array<std::byte, kGrhBytes> grh_{};
  std::unique_ptr<UnreliableQueuePair> unreliable_;
  std::unique_ptr<QueuePair> reliable_;  // if the other is null
};

struct Connection {
  End from;
  End to;
  explicit Connection(Service service) : from(service, false), to(service, service == Service::xrc) {}
};

void is_received(Connection& c, Service service) {
  const std::uint32_t grh = service == Service::ud ? kGrhBytes : 0;
  BOOST_REQUIRE(c.to.host.completions.size() == 1u);
  BOOST_TEST(c.to.host.completions[0].receive);
  BOOST_CHECK(c.to.host.completions[0].status == WorkStatus::success);
  BOOST_TEST(c.to.host.completions[0].byte_length == kLength + grh);
  BOOST_TEST(c.to.memory.bytes(kReceive + grh, kLength) == pattern(kLength));
}
void is_received_with_immediate(Connection& c, Service service) {
  is_received(c, service);
  BOOST_TEST(c.to.host.completions[0].with_immediate);
  BOOST_CHECK(c.to.host.completions[0].immediate == kImmediate);
}
void is_received_and_invalidates(Connection& c, Service service) {
  is_received(c, service);
  BOOST_TEST(c.to.host.completions[0].with_invalidate);
  BOOST_CHECK(c.to.keys.invalidated == std::vector{wire::Rkey{kInvalidated}});
}
void is_written(Connection& c, Service) {
  BOOST_TEST(c.to.memory.bytes(kRemote, kLength) == pattern(kLength));
}
void is_written_with_immediate(Connection& c, Service service) {
  is_written(c, service);
  BOOST_REQUIRE(c.to.host.completions.size() == 1u);
  BOOST_CHECK(c.to.host.completions[0].opcode == CompletionOpcode::receive_rdma_with_immediate);
  BOOST_CHECK(c.to.host.completions[0].immediate == kImmediate);
}
void is_read(Connection& c, Service) {
  BOOST_TEST(c.from.memory.bytes(kLocal, kLength) == c.to.memory.bytes(kRemote, kLength));
}
void is_swapped(Connection& c, Service) {
  BOOST_TEST(c.to.memory.word(kRemote) == kOperand);
  BOOST_TEST(c.from.memory.word(kLocal) == kWord);
}
void is_added(Connection& c, Service) {
  BOOST_TEST(c.to.memory.word(kRemote) == kWord + kOperand);
  BOOST_TEST(c.from.memory.word(kLocal) == kWord);
}
void is_written_atomically(Connection& c, Service) { BOOST_TEST(c.to.memory.word(kRemote) == kOperand); }
void is_invalidated_here(Connection& c, Service) {
  BOOST_CHECK(c.from.keys.invalidated == std::vector{wire::Rkey{kInvalidated}});
}
void is_bound_here(Connection& c, Service) {
  BOOST_REQUIRE(c.from.keys.bindings.size() == 1u);
  BOOST_TEST(c.from.keys.bindings[0].next.value == kInvalidated);
}

struct Kind {
  const char* name;
  WorkOpcode opcode;
  CompletionOpcode completion;
  std::array<bool, kServices.size()> taken;  // by each of kServices
  void (*has_effect)(Connection&, Service);
};

constexpr Kind kKinds[] = {
    //                                                                          RC  XRC  UC  UD  raw
    {"SEND", WorkOpcode::send, CompletionOpcode::send, {true, true, true, true, true}, is_received},
    {"SEND with immediate",
     WorkOpcode::send_with_immediate,
     CompletionOpcode::send,
     {true, true, true, true, false},
     is_received_with_immediate},
    {"SEND with invalidate",
     WorkOpcode::send_with_invalidate,
     CompletionOpcode::send,
     {true, true, false, false, false},
     is_received_and_invalidates},
    {"WRITE",
     WorkOpcode::rdma_write,
     CompletionOpcode::rdma_write,
     {true, true, true, false, false},
     is_written},
    {"WRITE with immediate",
     WorkOpcode::rdma_write_with_immediate,
     CompletionOpcode::rdma_write,
     {true, true, true, false, false},
     is_written_with_immediate},
    {"READ", WorkOpcode::rdma_read, CompletionOpcode::rdma_read, {true, true, false, false, false}, is_read},
    {"CMP_SWAP",
     WorkOpcode::atomic_compare_swap,
     CompletionOpcode::compare_swap,
     {true, true, false, false, false},
     is_swapped},
    {"FETCH_ADD",
     WorkOpcode::atomic_fetch_add,
     CompletionOpcode::fetch_add,
     {true, true, false, false, false},
     is_added},
    {"ATOMIC WRITE",
     WorkOpcode::atomic_write,
     CompletionOpcode::atomic_write,
     {true, true, false, false, false},
     is_written_atomically},
    {"local invalidate",
     WorkOpcode::local_invalidate,
     CompletionOpcode::local_invalidate,
     {true, true, true, false, false},
     is_invalidated_here},
    {"bind",
     WorkOpcode::bind_memory_window,
     CompletionOpcode::bind_memory_window,
     {true, true, true, false, false},
     is_bound_here},
};

bool moves_a_word(WorkOpcode opcode) {
  return opcode == WorkOpcode::atomic_compare_swap || opcode == WorkOpcode::atomic_fetch_add ||
         opcode == WorkOpcode::atomic_write;
}

void post(Connection& c, WorkOpcode opcode) {
  const bool word = moves_a_word(opcode);
  if (opcode == WorkOpcode::rdma_read) {
    c.to.memory.fill_pattern(kRemote, kLength, 9);
  } else {
    c.from.memory.fill_pattern(kLocal, kLength);
  }
  if (word) c.to.memory.set_word(kRemote, kWord);
  c.to.receives.post({Sge{kReceive, 0x100, Lkey{kRegionKey}}});
  const Sge sge{kLocal, word ? std::uint32_t{sizeof kWord} : kLength, Lkey{kRegionKey}};
  SendRequest request;
  request.opcode = opcode;
  request.signaled = true;
  request.immediate = kImmediate;
  request.invalidate = wire::Rkey{kInvalidated};
  request.remote_address = kRemote;
  request.rkey = wire::Rkey{kRegionKey};
  request.compare_add = opcode == WorkOpcode::atomic_fetch_add ? kOperand : kWord;
  request.swap = kOperand;
  request.binding.next = wire::Rkey{kInvalidated};
  request.address_handle = kAddress;
  request.remote_qkey = kQkey;
  const auto operand = std::bit_cast<std::array<std::byte, sizeof kOperand>>(kOperand);
  if (opcode == WorkOpcode::atomic_write) {
    request.is_inline = true;
    request.inline_data = operand;
  } else {
    request.sges = {&sge, 1};
  }
  c.from.sends.post(request);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(services)

BOOST_AUTO_TEST_CASE(each_takes_its_kinds_of_request_and_refuses_the_others) {
  for (const Kind& kind : kKinds) {
    for (const Service service : kServices) {
      const auto which = static_cast<std::size_t>(service);
      BOOST_TEST_CONTEXT(kind.name << " on " << kServiceNames[which]) {
        Connection c(service);
        post(c, kind.opcode);
        bool reached_peer = false;
        while (c.from.send_to(c.to)) {
          reached_peer = true;
          c.to.send_to(c.from);
        }
        BOOST_REQUIRE(c.from.host.completions.size() == 1u);
        const Completion& completion = c.from.host.completions[0];
        if (kind.taken[which]) {
          BOOST_CHECK(completion.status == WorkStatus::success);
          BOOST_CHECK(completion.opcode == kind.completion);
          kind.has_effect(c, service);
        } else {
          BOOST_CHECK(completion.status == WorkStatus::local_qp_operation_error);
          BOOST_TEST(!reached_peer);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::transport::bench
