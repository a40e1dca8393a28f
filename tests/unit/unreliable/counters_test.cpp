// What the services without acknowledgements count: each event moves the counters that docs/counters.md says,
// and no other one.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <functional>

#include "tests/unit/transport_bench/moved_counters.hpp"
#include "tests/unit/unreliable/unreliable_bench.hpp"

namespace urnic::transport::bench {
namespace {

using wire::Operation;
using Connection = UnreliableBench<UnreliableConnection>;
using Datagrams = UnreliableBench<UnreliableDatagram>;

template <class Bench>
struct Row {
  const char* event;
  std::function<void(Bench&)> happens;
  const char* counted;
};

Packet uc(Operation operation, std::uint32_t offset, std::size_t length) {
  Packet packet = rc_packet(operation, (wire::Psn(kFirst) + offset).value(), pattern(length));
  packet.headers.bth.opcode = wire::Opcode(wire::Service::uc, operation);
  return packet;
}

Packet uc_write(std::uint32_t offset, std::uint32_t length, std::uint32_t key) {
  Packet packet = uc(Operation::write_only, offset, length);
  packet.headers.reth = {kBase, wire::Rkey{key}, length};
  return packet;
}

Packet datagram(std::size_t length, std::uint32_t qkey = kQkey) {
  Packet packet = rc_packet(Operation::send_only, 1, pattern(length));
  packet.headers.bth.opcode = wire::Opcode(wire::Service::ud, Operation::send_only);
  packet.headers.deth = {.qkey = qkey, .reserved = 0, .source = kPeer};
  return packet;
}

Packet of_another_partition(Packet packet) {
  packet.headers.bth.pkey = wire::Pkey{0x8007};
  return packet;
}

template <class Bench>
void check(const std::vector<Row<Bench>>& rows) {
  for (const Row<Bench>& row : rows) {
    BOOST_TEST_CONTEXT(row.event) {
      Bench b;
      row.happens(b);
      b.run();
      BOOST_TEST(moved(b.counters) == row.counted);
    }
  }
}

// Of both.
template <class Bench>
void check_sends() {
  check<Bench>({
      {"a request of another service and one behind it",
       [](Bench& b) {
         b.post_send(WorkOpcode::atomic_fetch_add, 8);
         b.post_send(WorkOpcode::send, 8);
       },
       "requester_cqe_errors 2, requester_flushed 1"},
      {"receives in the error state",
       [](Bench& b) {
         b.post_receive();
         b.post_receive();
         b.to(QpState::error);
       },
       "responder_cqe_errors 2, responder_flushed 2"},
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(unreliable_counters)

BOOST_AUTO_TEST_CASE(of_connections) {
  check_sends<Connection>();
  check<Connection>({
      {"another partition",
       [](Connection& b) { b.ask(of_another_partition(uc(Operation::send_only, 0, 8))); },
       "pkey_violations 1"},
      {"messages in order",
       [](Connection& b) {
         b.post_receive();
         b.ask(uc(Operation::send_first, 0, kMtu));
         b.ask(uc(Operation::send_last, 1, 8));
         b.ask(uc_write(2, 16, kKey));
       },
       "received_write_requests 1, received_send_requests 1"},
      {"one hole, and what follows behind it",
       [](Connection& b) {
         b.ask(uc_write(3, 16, kKey));
         b.ask(uc_write(4, 16, kKey));
         b.ask(uc_write(5, 16, kKey));
       },
       "out_of_sequence 1, received_write_requests 3"},
      {"a message of two packets without a receive",
       [](Connection& b) {
         b.ask(uc(Operation::send_first, 0, kMtu));
         b.ask(uc(Operation::send_last, 1, 8));
       },
       "messages_without_receive 1"},
      {"a write with immediate data without a receive",
       [](Connection& b) {
         Packet packet = uc_write(0, 16, kKey);
         packet.headers.bth.opcode = wire::Opcode(wire::Service::uc, Operation::write_only_immediate);
         b.ask(packet);
       },
       "messages_without_receive 1"},
      {"a message longer than its receive",
       [](Connection& b) {
         b.post_receive(8);
         b.ask(uc(Operation::send_only, 0, 16));
       },
       "responder_local_length_errors 1, received_send_requests 1"},
      {"a write without right", [](Connection& b) { b.ask(uc_write(0, 16, kReadOnlyKey)); },
       "responder_access_errors 1, received_write_requests 1"},
  });
}

BOOST_AUTO_TEST_CASE(of_datagrams) {
  check_sends<Datagrams>();
  check<Datagrams>({
      {"a datagram",
       [](Datagrams& b) {
         b.post_receive();
         b.ask(datagram(16));
       },
       "received_send_requests 1"},
      {"no receive", [](Datagrams& b) { b.ask(datagram(16)); }, "messages_without_receive 1"},
      {"a receive that is too short",
       [](Datagrams& b) {
         b.post_receive(8);
         b.ask(datagram(16));
       },
       "responder_local_length_errors 1"},
      {"another partition", [](Datagrams& b) { b.ask(of_another_partition(datagram(16))); },
       "pkey_violations 1"},
      {"another Q_Key", [](Datagrams& b) { b.ask(datagram(16, kQkey + 1)); }, "qkey_violations 1"},
      {"memory that is not allowed, and a receive behind it",
       [](Datagrams& b) {
         b.post_receive(64, kReadOnlyKey);
         b.post_receive();
         b.ask(datagram(16));
       },
       "responder_cqe_errors 2, responder_flushed 1"},
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::transport::bench
