// Packets from outside that are held out of order: which may be, what happens when another one has their PSN,
// and when their turn comes.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>
#include <functional>

#include "tests/unit/responder/keeping_bench.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::bench;
using wire::NakCode;
using wire::Operation;

namespace {

Packet outside(Packet packet) {
  packet.selective_acks = SelectiveAcks::outside;
  return packet;
}

struct Named {
  const char* what;
  std::function<Packet()> make;
};

Packet changed(Packet packet, const std::function<void(wire::TransportHeaders&)>& change) {
  change(packet.headers);
  return packet;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(packets_from_outside, KeepingBench)

BOOST_AUTO_TEST_CASE(what_is_wrong_by_itself_is_not_held) {
  const Named wrong[] = {
      {"WRITE, foreign key", [] { return write_only(2, 16, kBase, kForeignKey); }},
      {"WRITE, key without that right", [] { return write_only(2, 16, kBase, kReadOnlyKey); }},
      {"WRITE, out of bounds", [] { return write_only(2, 16, kBase + kMemorySize); }},
      {"WRITE, more than announced", [] { return write(Operation::write_only, 2, pattern(16), 8); }},
      {"WRITE First, all announced", [] { return write(Operation::write_first, 2, pattern(kMtu), kMtu); }},
      {"WRITE First, short", [] { return write(Operation::write_first, 2, pattern(16), 1000); }},
      {"SEND First, short", [] { return send(Operation::send_first, 2, pattern(16)); }},
      {"SEND, too long", [] { return send(Operation::send_only, 2, pattern(kMtu + 4)); }},
      {"SEND with invalidate", [] { return send(Operation::send_only_invalidate, 2, pattern(16)); }},
      {"READ, foreign key", [] { return read(2, 16, kBase, kForeignKey); }},
      {"READ, too long", [] { return read(2, kMaxRdmaLength + 1); }},
      {"atomic, foreign key", [] { return add(2, 1, kBase, kForeignKey); }},
      {"atomic, not aligned", [] { return add(2, 1, kBase + 4); }},
  };
  std::uint64_t discards = 0;
  for (const Named& each : wrong) {
    BOOST_TEST_CONTEXT(each.what) {
      ask(outside(each.make()));
      BOOST_CHECK_EQUAL(counters.held_packets, 0u);
      BOOST_CHECK_EQUAL(counters.held_discards, ++discards);
    }
  }
  ask(outside(write_only(2)));
  BOOST_CHECK_EQUAL(counters.held_packets, 1u);
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);  // for all of them one NAK
  BOOST_CHECK(is_nak(take(), psn(0), NakCode::psn_sequence_error));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_its_neighbours_is_not_held) {
  ask(outside(write(Operation::write_first, 4, pattern(kMtu), 3 * kMtu)));
  for (Packet& packet : std::vector<Packet>{
           send_only(5), read(5, 16), write_only(5), send(Operation::send_middle, 5, pattern(kMtu)),
           write(Operation::write_middle, 3, pattern(kMtu)), send(Operation::send_first, 3, pattern(kMtu))}) {
    ask(outside(packet));
  }
  BOOST_CHECK_EQUAL(counters.held_packets, 1u);
  ask(outside(write(Operation::write_middle, 5, pattern(kMtu))));
  ask(outside(write(Operation::write_last, 3, pattern(16))));
  BOOST_CHECK_EQUAL(counters.held_packets, 3u);
}

// Neither is executed: the peer is asked for its own, which wins.
BOOST_AUTO_TEST_CASE(of_two_that_differ_none_is_kept) {
  const Named genuine[] = {{"WRITE", [] { return write_only(1, 16, kBase + 0x100); }},
                           {"SEND", [] { return send_only(1, 16, 5); }},
                           {"READ", [] { return read(1, 16); }},
                           {"atomic", [] { return add(1, 7); }}};
  const Named forged[] = {{"SEND", [] { return send_only(1, 16, 9); }},
                          {"SEND of another length", [] { return send_only(1, 15, 5); }},
                          {"WRITE elsewhere", [] { return write_only(1, 16, kBase + 0x200); }},
                          {"READ of more", [] { return read(1, 32); }},
                          {"atomic of more", [] { return add(1, 8); }}};
  for (const Named& right : genuine) {
    for (const Named& wrong : forged) {
      for (const bool forged_first : {true, false}) {
        BOOST_TEST_CONTEXT(right.what << " and " << wrong.what << ", first " << forged_first) {
          KeepingBench bench;
          bench.post(64);
          bench.ask(outside(forged_first ? wrong.make() : right.make()));
          bench.ask(outside(forged_first ? right.make() : wrong.make()));
          BOOST_CHECK_EQUAL(bench.counters.held_contradictions, 1u);
          BOOST_CHECK_EQUAL(bench.pool.in_use(), 0u);
          bench.sent().clear();
          bench.ask(outside(write_only(0)));
          BOOST_REQUIRE_EQUAL(bench.sent().size(), 1u);
          BOOST_CHECK(is_nak(bench.take(), psn(1), NakCode::psn_sequence_error) ||
                      bench.responder.expected_psn() == psn(1));
          bench.ask(outside(right.make()));
          BOOST_CHECK(bench.responder.expected_psn() == psn(2));
          BOOST_CHECK(bench.memory.bytes(kBase + 0x200, 16) == std::vector<std::byte>(16));
          BOOST_CHECK(!bench.shared.failed);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_copy_is_no_contradiction) {
  ask(outside(write_only(1)));
  ask(outside(changed(write_only(1), [](wire::TransportHeaders& headers) {
    headers.bth.ack_request = false;
    headers.bth.fecn = true;
    headers.immediate = {{1, 2, 3, 4}};  // which a WRITE Only has not
  })));
  BOOST_CHECK_EQUAL(counters.held_contradictions, 0u);
  BOOST_CHECK_EQUAL(counters.held_duplicates, 1u);
}

// The connection lives on: the packet is asked for again, and what is held behind it stays.
BOOST_AUTO_TEST_CASE(a_held_packet_whose_turn_shows_it_wrong_counts_as_lost) {
  struct Row {
    const char* what;
    std::function<Packet()> held;
    std::function<void(KeepingBench&)> before;
  };
  const auto take_key = [](KeepingBench& bench) {
    bench.keys.remove(kKey);
    bench.keys.add(kKey, kPd, bench.memory, {AccessRight::local_write});
  };
  const Row rows[] = {
      {"WRITE, its key has gone", [] { return write_only(1); }, take_key},
      {"READ, its key has gone", [] { return read(1, 16); }, take_key},
      {"atomic, its key has gone", [] { return add(1, 1); }, take_key},
      {"WRITE with immediate, its key has gone",
       [] { return write(Operation::write_only_immediate, 1, pattern(16), 16); }, take_key},
      {"Middle without a First", [] { return send(Operation::send_middle, 1, pattern(kMtu)); }, [](auto&) {}},
      {"WRITE Last without a First", [] { return write(Operation::write_last, 1, pattern(8)); },
       [](auto&) {}},
      {"SEND, longer than the receive", [] { return send_only(1, 128); }, [](auto&) {}},
  };
  for (const Row& row : rows) {
    BOOST_TEST_CONTEXT(row.what) {
      KeepingBench bench;
      bench.post(64, 0);
      bench.ask(outside(row.held()));
      row.before(bench);
      bench.sent().clear();
      bench.ask(outside(write(Operation::write_only, 0, {})));
      BOOST_REQUIRE_EQUAL(bench.sent().size(), 1u);
      BOOST_CHECK(is_nak(bench.take(), psn(1), NakCode::psn_sequence_error));
      BOOST_CHECK_EQUAL(bench.counters.held_contradictions, 1u);
      BOOST_CHECK(!bench.shared.failed);
      BOOST_CHECK(bench.host.completions.empty() && bench.host.events.empty());
      bench.ask(outside(send_only(1, 16, 5)));
      BOOST_CHECK(bench.responder.expected_psn() == psn(2));
      const Completion done = bench.completion();
      BOOST_CHECK(done.status == WorkStatus::success);
      BOOST_CHECK_EQUAL(done.wqe_index, 0u);
      BOOST_CHECK_EQUAL(done.byte_length, 16u);
      BOOST_CHECK(bench.memory.bytes(kBuffer, 16) == pattern(16, 5));
    }
  }
}

// Only what was held out of order is forgiven: a request in order is refused as always (IBTA 9.7.5.2.4).
BOOST_AUTO_TEST_CASE(in_order_a_wrong_key_ends_the_connection) {
  ask(outside(write_only(0, 16, kBase, kForeignKey)));
  BOOST_CHECK(is_nak(take(), psn(0), NakCode::remote_access_error));
  BOOST_CHECK(shared.failed);
}

BOOST_AUTO_TEST_SUITE_END()
