// Requests behind a hole: held, executed in order when it is filled, checked only then.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <random>

#include "tests/unit/responder/keeping_bench.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::bench;
using wire::NakCode;
using wire::Operation;

BOOST_FIXTURE_TEST_SUITE(out_of_order, KeepingBench)

BOOST_AUTO_TEST_CASE(a_write_waits_for_the_one_before_it) {
  ask(write_only(1, 16, kBase + 0x100));
  BOOST_CHECK(memory.bytes(kBase + 0x100, 16) == std::vector<std::byte>(16));
  sent().clear();
  ask(write_only(0, 16, kBase));
  BOOST_CHECK(memory.bytes(kBase, 16) == pattern(16));
  BOOST_CHECK(memory.bytes(kBase + 0x100, 16) == pattern(16));
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  const SentPacket packet = take();
  BOOST_CHECK(is_ack(packet, psn(1)));
  BOOST_CHECK(packet.headers.aeth.msn == wire::Msn{2});
  BOOST_CHECK_EQUAL(counters.out_of_sequence, 1u);
  BOOST_CHECK_EQUAL(counters.held_packets, 1u);
  BOOST_CHECK_EQUAL(host.writes.at(0).address, kBase);
}

BOOST_AUTO_TEST_CASE(a_snapshot_tells_of_the_hole_and_of_responses_that_are_owed) {
  const auto is = [this](std::uint32_t expected, std::uint32_t messages, bool hole, bool owes) {
    const ResponderSnapshot now = responder.snapshot();
    BOOST_CHECK(now.expected_psn == psn(expected));
    BOOST_CHECK(now.msn == wire::Msn{messages});
    BOOST_CHECK_EQUAL(now.has_hole, hole);
    BOOST_CHECK_EQUAL(now.owes_responses, owes);
  };
  is(0, 0, false, false);
  give(write_only(1, 16, kBase + 0x100));
  is(0, 0, true, true);
  settle();
  is(0, 0, true, false);
  give(write_only(0, 16, kBase));
  is(2, 2, false, true);
  settle();
  is(2, 2, false, false);
}

BOOST_AUTO_TEST_CASE(a_detail_tells_what_is_held) {
  for (const std::uint32_t place : {2u, 3u, 5u}) give(write_only(place, 16, kBase));
  const ResponderDetail now = responder.detail();
  BOOST_REQUIRE_EQUAL(now.held.size(), 2u);
  BOOST_CHECK(now.held[0].first == psn(2));
  BOOST_CHECK_EQUAL(now.held[0].count, 2u);
  BOOST_CHECK(now.held[1].first == psn(5));
  give(write_only(0, 16, kBase));
  give(write_only(1, 16, kBase));
  BOOST_REQUIRE_EQUAL(responder.detail().held.size(), 1u);
}

BOOST_AUTO_TEST_CASE(a_message_is_put_together_from_packets_in_any_order) {
  post();
  ask(send(Operation::send_last_immediate, 3, pattern(7, 0, 3 * kMtu)));
  ask(send(Operation::send_middle, 1, pattern(kMtu, 0, kMtu)));
  ask(send(Operation::send_middle, 2, pattern(kMtu, 0, 2 * kMtu)));
  BOOST_CHECK_EQUAL(receives.taken(), 0u);
  ask(send(Operation::send_first, 0, pattern(kMtu)));
  BOOST_CHECK(memory.bytes(kBuffer, 3 * kMtu + 7) == pattern(3 * kMtu + 7));
  const Completion done = completion();
  BOOST_CHECK(done.status == WorkStatus::success);
  BOOST_CHECK(done.with_immediate);
  BOOST_CHECK_EQUAL(done.byte_length, 3 * kMtu + 7);
}

BOOST_AUTO_TEST_CASE(receives_go_to_messages_in_order_of_psn) {
  post(64, 0);
  post(64, 64);
  post(64, 128);
  ask(send_only(2, 8, 3));
  ask(send_only(1, 8, 2));
  ask(send_only(0, 8, 1));
  for (std::uint32_t i = 0; i < 3; ++i) {
    BOOST_CHECK_EQUAL(completion().wqe_index, i);
    BOOST_CHECK(memory.bytes(kBuffer + 64 * i, 8) == pattern(8, static_cast<std::uint8_t>(i + 1)));
  }
}

BOOST_AUTO_TEST_CASE(invalidation_and_its_report_wait_for_their_turn) {
  post();
  Packet packet = send(Operation::send_only_invalidate, 1, pattern(4));
  packet.headers.invalidate = wire::Rkey{0x77};
  ask(packet);
  BOOST_CHECK(keys.invalidated.empty());
  ask(write_only(0));
  BOOST_REQUIRE_EQUAL(keys.invalidated.size(), 1u);
  BOOST_CHECK(completion().with_invalidate);
}

BOOST_AUTO_TEST_CASE(a_read_behind_a_write_sees_what_was_written) {
  ask(read(1, 16));
  sent().clear();
  ask(write_only(0));
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  const SentPacket response = take();
  BOOST_CHECK(operation_of(response) == Operation::read_response_only);
  BOOST_CHECK(response.payload == pattern(16));
}

BOOST_AUTO_TEST_CASE(a_held_read_moves_the_expected_psn_over_all_of_its_response) {
  memory.fill_pattern(kBase, 4 * kMtu);
  ask(write_only(4, 16, kBase + 0x4000));  // behind the read's three PSNs
  ask(read(1, 3 * kMtu));
  sent().clear();
  ask(write_only(0, 16, kBase + 0x5000));
  BOOST_REQUIRE_EQUAL(sent().size(), 4u);
  for (std::uint32_t i = 0; i < 3; ++i) BOOST_CHECK(sent()[i].headers.bth.psn == psn(1 + i));
  BOOST_CHECK(is_ack(sent()[3], psn(4)));
  BOOST_CHECK(memory.bytes(kBase + 0x4000, 16) == pattern(16));
  BOOST_CHECK(!shared.failed);
}

BOOST_AUTO_TEST_CASE(a_hole_that_ends_with_a_read_is_acknowledged_by_its_response_only) {
  ask(read(1, 16));
  sent().clear();
  give(write_only(0));
  settle();
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(operation_of(take()) == Operation::read_response_only);
}

BOOST_AUTO_TEST_CASE(atomics_are_executed_in_order_and_once) {
  memory.set_word(kBase, 100);
  ask(add(2, 10));
  ask(add(1, 5));
  ask(add(2, 10));  // once more: it is held already
  sent().clear();
  ask(write_only(0, 16, kBase + 0x100));
  BOOST_CHECK_EQUAL(memory.word(kBase), 115u);
  BOOST_REQUIRE_EQUAL(sent().size(), 2u);
  BOOST_CHECK_EQUAL(take().headers.atomic_original, 100u);
  BOOST_CHECK_EQUAL(take().headers.atomic_original, 105u);
  ask(add(1, 5));
  BOOST_CHECK_EQUAL(take().headers.atomic_original, 100u);
  BOOST_CHECK_EQUAL(memory.word(kBase), 115u);
  BOOST_CHECK_EQUAL(counters.duplicate_request, 1u);
}

BOOST_AUTO_TEST_CASE(a_packet_inside_a_held_reads_psns_is_a_duplicate_once_that_is_executed) {
  ask(read(1, 3 * kMtu));
  ask(write_only(2, 16, kBase + 0x100));  // no requester has this PSN to give
  ask(write_only(0, 16, kBase + 0x200));
  BOOST_CHECK(memory.bytes(kBase + 0x100, 16) == std::vector<std::byte>(16));
  BOOST_CHECK(!shared.failed);
  BOOST_CHECK_EQUAL(pool.in_use(), 0u);
  sent().clear();
  ask(write_only(4, 16, kBase + 0x100));
  BOOST_CHECK(is_ack(take(), psn(4)));
}

BOOST_AUTO_TEST_CASE(rights_are_checked_when_the_turn_comes) {
  ask(write_only(1, 16, kBase + 0x100));
  keys.remove(kKey);
  keys.add(kKey, kPd, memory, {AccessRight::remote_read});
  sent().clear();
  ask(read(0, 4));
  BOOST_REQUIRE_EQUAL(sent().size(), 2u);
  BOOST_CHECK(operation_of(sent()[0]) == Operation::read_response_only);
  BOOST_CHECK(is_nak(sent()[1], psn(1), NakCode::remote_access_error));
  BOOST_CHECK(shared.failed);
  BOOST_CHECK_EQUAL(counters.responder_access_errors, 1u);
}

BOOST_AUTO_TEST_CASE(what_would_be_refused_is_not_while_it_is_held) {
  ask(write_only(1, 16, kBase, kForeignKey));
  ask(send(Operation::send_middle, 2, pattern(kMtu)));
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_nak(take(), psn(0), NakCode::psn_sequence_error));
  BOOST_CHECK(!shared.failed);
  BOOST_CHECK(host.events.empty());
}

BOOST_AUTO_TEST_CASE(behind_a_refused_request_nothing_is_executed) {
  for (std::uint32_t i = 2; i < 6; ++i) ask(write_only(i, 16, kBase + 0x100));
  ask(write_only(1, 16, kBase, kForeignKey));
  sent().clear();
  ask(write_only(0, 16, kBase + 0x200));
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_nak(take(), psn(1), NakCode::remote_access_error));
  BOOST_CHECK(memory.bytes(kBase + 0x100, 16) == std::vector<std::byte>(16));
  BOOST_CHECK(memory.bytes(kBase + 0x200, 16) == pattern(16));
  BOOST_CHECK_EQUAL(pool.in_use(), 0u);
}

BOOST_AUTO_TEST_CASE(resources_are_taken_when_the_turn_comes) {
  for (std::uint32_t i = kDepth; i > 0; --i) ask(read(i, 4));
  for (std::uint32_t i = 0; i < 3; ++i) ask(write_only(kDepth + 1 + i));
  sent().clear();
  ask(write_only(0));
  BOOST_CHECK(!shared.failed);
  BOOST_REQUIRE_EQUAL(sent().size(), kDepth + 1u);
  BOOST_CHECK(is_ack(sent().back(), psn(kDepth + 3)));
}

BOOST_AUTO_TEST_CASE(a_packet_too_far_ahead_is_dropped) {
  const auto window = QpConfig{}.window_packets;
  ask(write_only(window));
  BOOST_CHECK_EQUAL(counters.held_packets, 0u);
  BOOST_CHECK_EQUAL(counters.held_discards, 1u);
  BOOST_CHECK(is_nak(take(), psn(0), NakCode::psn_sequence_error));
  ask(write_only(window - 1));
  BOOST_CHECK_EQUAL(counters.held_packets, 1u);
}

// However long READs are: nothing is sent behind one that reaches out of the window.
BOOST_AUTO_TEST_CASE(of_all_psns_only_the_peers_window_is_held) {
  std::uint32_t taken = 0;
  for (std::uint32_t i = 64; i < 1u << 23; i += 4093) {
    give(write_only(i));
    taken += i < QpConfig{}.window_packets;
  }
  BOOST_CHECK_EQUAL(taken, 1u);
  BOOST_CHECK_EQUAL(counters.held_packets, taken);
  BOOST_CHECK_EQUAL(pool.in_use(), taken);
}

BOOST_AUTO_TEST_CASE(without_a_free_slot_a_packet_is_as_good_as_lost) {
  KeepingBench small(4);  // two for one queue pair
  for (std::uint32_t i = 1; i <= 3; ++i) small.ask(write_only(i, 16, kBase + 0x100 * i));
  BOOST_CHECK_EQUAL(small.counters.held_packets, 2u);
  BOOST_CHECK_EQUAL(small.counters.held_discards, 1u);
  small.sent().clear();
  small.ask(write_only(0, 16, kBase));
  BOOST_CHECK(is_ack(small.sent().back(), psn(2)));
  BOOST_CHECK(small.memory.bytes(kBase + 0x300, 16) == std::vector<std::byte>(16));
  small.sent().clear();
  small.ask(write_only(3, 16, kBase + 0x300));
  BOOST_CHECK(is_ack(small.take(), psn(3)));
  BOOST_CHECK(small.memory.bytes(kBase + 0x300, 16) == pattern(16));
}

BOOST_AUTO_TEST_CASE(without_any_slot_it_goes_on_as_a_responder_that_keeps_nothing) {
  KeepingBench none(0);
  none.ask(write_only(1));
  none.ask(write_only(2));
  BOOST_REQUIRE_EQUAL(none.sent().size(), 1u);
  BOOST_CHECK(is_nak(none.take(), psn(0), NakCode::psn_sequence_error));
  for (std::uint32_t i = 0; i < 3; ++i) {
    none.ask(write_only(i));
    BOOST_CHECK(is_ack(none.take(), psn(i)));
  }
}

BOOST_AUTO_TEST_CASE(slots_are_free_once_the_batch_is_flushed_and_not_before) {
  for (std::uint32_t i = 1; i < 10; ++i) give(write_only(i));
  BOOST_CHECK_EQUAL(pool.in_use(), 9u);
  give(write_only(0));
  BOOST_CHECK_EQUAL(pool.in_use(), 9u);
  settle();
  BOOST_CHECK_EQUAL(pool.in_use(), 0u);
}

BOOST_AUTO_TEST_CASE(the_payload_of_a_held_packet_outlives_the_packet_that_fills_the_hole) {
  for (std::uint32_t round = 0; round < 5; ++round) {
    const std::uint32_t at = 4 * round;
    for (std::uint32_t i = 1; i < 4; ++i) {
      give(write(Operation::write_only, at + i, pattern(64, static_cast<std::uint8_t>(at + i)), 64,
                 kBase + 64 * (at + i)));
    }
    give(write(Operation::write_only, at, pattern(64, static_cast<std::uint8_t>(at)), 64, kBase + 64 * at));
    // Not flushed: the next round must not use the slots of this one.
  }
  settle();
  for (std::uint32_t i = 0; i < 20; ++i) {
    BOOST_CHECK(memory.bytes(kBase + 64 * i, 64) == pattern(64, static_cast<std::uint8_t>(i)));
  }
}

BOOST_AUTO_TEST_CASE(reset_and_flush_give_the_slots_back) {
  for (const bool reset : {true, false}) {
    KeepingBench bench;
    for (std::uint32_t i = 1; i < 10; ++i) bench.ask(write_only(i));
    BOOST_CHECK_EQUAL(bench.pool.in_use(), 9u);
    reset ? bench.responder.reset() : bench.responder.flush();
    bench.flush();
    BOOST_CHECK_EQUAL(bench.pool.in_use(), 0u);
  }
}

BOOST_AUTO_TEST_CASE(after_reset_nothing_of_the_life_before_is_left) {
  ask(offered(write_only(2)));
  responder.reset();
  responder.start();
  sent().clear();
  ask(write_only(1));
  const SentPacket nak = take();
  BOOST_CHECK(is_nak(nak, psn(0), NakCode::psn_sequence_error));
  BOOST_CHECK(!is_selective(nak));
  ask(write_only(0));
  BOOST_CHECK(is_ack(take(), psn(1)));  // and not 2
}

BOOST_AUTO_TEST_CASE(a_failed_memory_access_drops_what_is_held) {
  memory.unmap(kBase, 16);
  for (std::uint32_t i = 2; i < 6; ++i) ask(write_only(i, 16, kBase + 0x100));
  sent().clear();
  ask(write_only(0, 16, kBase));
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_nak(take(), psn(0), NakCode::remote_operational_error));
  BOOST_CHECK(shared.failed);
  flush();
  BOOST_CHECK_EQUAL(pool.in_use(), 0u);
  ask(write_only(1, 16, kBase + 0x200));
  BOOST_CHECK(sent().empty());
  BOOST_CHECK(memory.bytes(kBase + 0x100, 16) == std::vector<std::byte>(16));
}

BOOST_AUTO_TEST_CASE(a_failed_access_of_a_held_packet_is_reported_at_its_psn) {
  memory.unmap(kBase + 0x100, 16);
  ask(write_only(1, 16, kBase + 0x100));
  ask(write_only(2, 16, kBase + 0x200));
  sent().clear();
  ask(write_only(0, 16, kBase));
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_nak(take(), psn(1), NakCode::remote_operational_error));
  BOOST_CHECK(memory.bytes(kBase + 0x200, 16) == std::vector<std::byte>(16));
}

BOOST_AUTO_TEST_CASE(under_gbn_nothing_is_held) {
  shared.recovery.mode = RecoveryMode::gbn;
  ask(write_only(1));
  BOOST_CHECK_EQUAL(pool.in_use(), 0u);
  BOOST_CHECK_EQUAL(counters.held_discards, 0u);
}

BOOST_AUTO_TEST_CASE(what_is_held_when_the_mode_changes_is_executed) {
  ask(offered(write_only(1)));
  shared.recovery.mode = RecoveryMode::gbn;
  ask(offered(write_only(2)));
  sent().clear();
  ask(offered(write_only(0)));
  BOOST_REQUIRE_EQUAL(sent().size(), 1u);
  BOOST_CHECK(is_ack(sent()[0], psn(1)));
  BOOST_CHECK(!responder.gives_selective_acks());
}

BOOST_AUTO_TEST_CASE(in_any_order_the_application_sees_what_it_would_see_in_order) {
  std::mt19937 chance(11);
  for (int round = 0; round < 300; ++round) {
    // Requests of all kinds that overlap in memory, so that their order shows.
    std::vector<Packet> packets;
    std::uint32_t next = 0;
    for (int i = 0; i < 30; ++i) {
      const auto seed = static_cast<std::uint8_t>(chance());
      const std::uint64_t address = kBase + 8 * (chance() % 16);
      switch (chance() % 5) {
        case 0:
          packets.push_back(send_only(next++, 1 + chance() % 64, seed));
          break;
        case 1:
          packets.push_back(add(next++, seed, address));
          break;
        case 2:
          packets.push_back(read(next, 3 * kMtu, kBase));
          next += 3;
          break;
        case 3: {
          const auto total = static_cast<std::uint32_t>(kMtu + 1 + chance() % 64);
          packets.push_back(write(Operation::write_first, next++, pattern(kMtu, seed), total, address));
          packets.push_back(write(Operation::write_last_immediate, next++, pattern(total - kMtu, seed)));
          break;
        }
        default:
          packets.push_back(write(Operation::write_only, next++, pattern(40, seed), 40, address));
      }
    }
    ResponderBench right;
    KeepingBench under_test;
    for (int i = 0; i < 64; ++i)
      right.post(128, 128 * static_cast<std::uint32_t>(i)),
          under_test.post(128, 128 * static_cast<std::uint32_t>(i));
    for (const Packet& packet : packets) right.ask(packet);
    // Four at a time in any order, some twice: no more READs and ATOMICs are under way than allowed.
    for (std::size_t i = 0; i < packets.size(); i += 4) {
      std::vector<Packet> four(packets.begin() + static_cast<long>(i),
                               packets.begin() + static_cast<long>(std::min(i + 4, packets.size())));
      std::shuffle(four.begin(), four.end(), chance);
      for (const Packet& packet : four) {
        for (std::uint32_t copies = chance() % 4 == 0 ? 2 : 1; copies > 0; --copies) under_test.give(packet);
        if (chance() % 3 == 0) under_test.settle();
      }
      under_test.settle();
    }
    BOOST_REQUIRE(!right.shared.failed && !under_test.shared.failed);
    BOOST_REQUIRE(right.memory.bytes(kBase, kMemorySize) == under_test.memory.bytes(kBase, kMemorySize));
    BOOST_REQUIRE_EQUAL(right.host.completions.size(), under_test.host.completions.size());
    for (std::size_t i = 0; i < right.host.completions.size(); ++i) {
      const Completion& one = right.host.completions[i];
      const Completion& other = under_test.host.completions[i];
      BOOST_REQUIRE_EQUAL(one.wqe_index, other.wqe_index);
      BOOST_REQUIRE_EQUAL(one.byte_length, other.byte_length);
      BOOST_REQUIRE(one.opcode == other.opcode);
    }
    BOOST_REQUIRE_EQUAL(under_test.pool.in_use(), 0u);
  }
}

BOOST_AUTO_TEST_SUITE_END()
