// What is said of packets: with urnic's capture points, and from captures at one end.
#include "analysis/flows/flow_tracker.hpp"

#include <boost/test/unit_test.hpp>
#include <random>
#include <string>
#include <vector>

#include "analysis/flows/connections.hpp"
#include "tests/unit/analysis/traffic.hpp"
#include "wire/mad/cm_messages.hpp"

namespace urnic::analysis::test {
namespace {

using wire::Operation;

BOOST_AUTO_TEST_SUITE(flow_tracker)

BOOST_AUTO_TEST_CASE(acknowledgements_name_the_packets) {
  for (const Where where : {Where::every_point, Where::at_sender, Where::at_receiver}) {
    Traffic traffic(where);
    const std::uint64_t step = where == Where::every_point ? 2 : 1;
    ordinary(traffic);
    const Packet& ack = traffic.packet(5 * step + 1);
    BOOST_TEST(ack.acks == 3u);
    BOOST_TEST(ack.acks_first == 1 + step * 2);
    BOOST_TEST(ack.acks_last == 1 + step * 4);
    traffic.ack(12);
    BOOST_TEST(traffic.packet(6 * step + 1).is_repeated_ack);
    const Flow& flow = traffic.tracker().flows()[0];
    BOOST_TEST(flow.counters.goodput == 4u * 16);
    BOOST_TEST(flow.counters.messages == 4u);
    BOOST_TEST((flow.pairing == Pairing::by_traffic));
    BOOST_TEST(flow.source_qp.value == 0x11u);
  }
}

BOOST_AUTO_TEST_CASE(messages_have_their_packets_and_lengths) {
  Traffic traffic(Where::at_sender);
  traffic.request(Operation::write_first, 1, 1024, 2500);
  traffic.request(Operation::write_middle, 2, 1024);
  traffic.request(Operation::write_last, 3, 452);
  traffic.send(4);
  // The first packet of the next message is not in the capture.
  traffic.request(Operation::send_last, 6, 30);
  BOOST_TEST(traffic.packet(3).message == 1u);
  BOOST_TEST(traffic.packet(3).message_bytes == 2500u);
  BOOST_TEST(traffic.packet(4).message == 2u);
  BOOST_TEST(traffic.packet(5).message_bytes == 0u);
  BOOST_TEST(traffic.tracker().flows()[0].path_mtu == 1024u);
}

BOOST_AUTO_TEST_CASE(reads_and_their_responses) {
  for (const Where where : {Where::every_point, Where::at_sender}) {
    Traffic traffic(where);
    const std::uint64_t step = where == Where::every_point ? 2 : 1;
    traffic.read(10, 2500);
    traffic.read(13, 100);  // the first one takes 10 to 12
    traffic.send(14);
    traffic.response(Operation::read_response_first, 10, 1024);
    traffic.response(Operation::read_response_middle, 11, 1024);
    traffic.response(Operation::read_response_last, 12, 452);
    traffic.response(Operation::read_response_only, 13, 100);
    traffic.ack(14);
    BOOST_TEST(text_of(traffic.remarks()) == "");
    for (std::uint64_t i = 3; i <= 5; ++i) BOOST_TEST(traffic.packet(i * step + 1).answers == 1u);
    BOOST_TEST(traffic.packet(6 * step + 1).answers == 1 + step);
    BOOST_TEST(traffic.packet(7 * step + 1).acks_last == 1 + 2 * step);
    BOOST_TEST(traffic.tracker().flows()[1].counters.goodput == 2600u);
  }
}

BOOST_AUTO_TEST_CASE(a_lost_response_is_asked_for_again) {
  const auto happens = [](Traffic& traffic) {
    traffic.request(Operation::send_first, 8, 1024);  // shows the path MTU
    traffic.request(Operation::send_last, 9, 1);
    traffic.ack(9);
    traffic.read(10, 3000);
    traffic.response(Operation::read_response_first, 10, 1024);
    traffic.lose = true;
    traffic.response(Operation::read_response_middle, 11, 1024);
    traffic.lose = false;
    traffic.response(Operation::read_response_last, 12, 952);
    traffic.read(11, 1976);
    traffic.response(Operation::read_response_first, 11, 1024);
    traffic.response(Operation::read_response_last, 12, 952);
  };
  Traffic everywhere(Where::every_point);
  happens(everywhere);
  BOOST_TEST(text_of(everywhere.remarks()) ==
             text_of({"11: lost: a rule: dropped", "13: a PSN is missing before it",
                      "15: retransmission of 7; arrives again", "17: late: was overtaken",
                      "19: repeats an answer"}));
  Traffic at_requester(Where::at_receiver);
  happens(at_requester);
  BOOST_TEST(text_of(at_requester.remarks()) ==
             text_of({"6: a PSN is missing before it", "7: retransmission of 4", "8: late: was overtaken",
                      "9: repeats an answer"}));
}

BOOST_AUTO_TEST_CASE(atomics_are_answered_by_their_psn) {
  Traffic traffic(Where::at_sender);
  traffic.request(Operation::fetch_add, 5, 0);
  traffic.request(Operation::compare_swap, 6, 0);
  traffic.response(Operation::atomic_acknowledge, 5, 0);
  traffic.response(Operation::atomic_acknowledge, 6, 0);
  BOOST_TEST(traffic.packet(3).answers == 1u);
  BOOST_TEST(traffic.packet(4).answers == 2u);
}

BOOST_AUTO_TEST_CASE(overtaken_and_copied_packets) {
  Traffic seen(Where::every_point);
  ordinary(seen);
  const auto frame = [&](std::uint32_t psn) {
    return seen.frame(seen.headers_of(Operation::send_only, psn, true), 16, true);
  };
  const std::uint64_t first = seen.last() + 1;
  seen.record(frame(15), 0);
  seen.record(frame(16), 0);
  seen.record(frame(16), 4);
  seen.record(frame(15), 4);
  seen.record(frame(15), 4, "a rule: duplicated");
  BOOST_TEST(text_of(seen.remarks()) ==
             text_of({std::to_string(first + 1) + ": arrives early",
                      std::to_string(first + 4) + ": the network's copy of " + std::to_string(first) +
                          "; arrives again; a rule: duplicated"}));
  BOOST_TEST(seen.packet(first).arrived ==
             Traffic::kStart + static_cast<std::int64_t>(first + 3) * Traffic::kStep);

  // Without points: the receiver's end sees the late one, and IPv4's Identification tells a copy.
  Traffic end(Where::at_receiver);
  end.identification = 7;
  end.send(1);
  end.identification = 9;
  end.send(3);
  end.identification = 8;
  end.send(2);
  end.send(2);
  end.identification = 10;
  end.send(2);
  BOOST_TEST(text_of(end.remarks()) ==
             text_of({"2: a PSN is missing before it",
                      "3: late: was overtaken; it or its answer is lost: sent again as 5",
                      "4: the network's copy of 3", "5: retransmission of 3"}));
}

BOOST_AUTO_TEST_CASE(damaged_packets_belong_to_their_transmission) {
  Traffic traffic(Where::every_point);
  ordinary(traffic);
  const std::uint64_t first = traffic.last() + 1;
  wire::test::Bytes frame = traffic.frame(traffic.headers_of(Operation::send_only, 15, true), 16, true);
  for (const std::size_t at : {frame.size() - 5, wire::test::kBth4 + 11, wire::test::kBth4 + 6}) {
    traffic.record(frame, 0);
    wire::test::Bytes damaged = frame;
    damaged[at] ^= std::byte{1};
    traffic.record(damaged, 4);
  }
  // Payload, PSN and QP: each time it is the packet that was just sent.
  for (const std::uint64_t number : {first, first + 2, first + 4}) {
    BOOST_TEST((traffic.packet(number).fate == Fate::damaged));
    BOOST_TEST(traffic.packet(number).fate_record == number + 1);
  }
  BOOST_TEST(traffic.tracker().flows()[0].counters.lost == 3u);
}

// A NAK of each kind is repeated while others are under way, on a link that takes a while.
BOOST_AUTO_TEST_CASE(many_alike_packets_are_under_way_at_once) {
  Traffic traffic(Where::every_point);
  ordinary(traffic);
  const std::uint64_t first = traffic.last() + 1;
  constexpr std::uint32_t kCount = 100;
  std::vector<wire::test::Bytes> frames;
  for (std::uint32_t i = 0; i < kCount; ++i) {
    wire::TransportHeaders headers = traffic.headers_of(Operation::acknowledge, 15, false);
    headers.bth.opcode = i % 3 == 0 ? headers.bth.opcode : wire::kSelectiveAcknowledge;
    headers.aeth.syndrome = 0x60;
    headers.selective_ack_eth.latest = wire::Psn{16 + i / 2};
    frames.push_back(traffic.frame(headers, 0, false));
    traffic.record(frames.back(), 3);
  }
  for (const wire::test::Bytes& frame : frames) traffic.record(frame, 1);
  for (std::uint64_t i = 0; i < kCount; ++i) {
    BOOST_TEST((traffic.packet(first + i).fate == Fate::arrived));
    BOOST_TEST(traffic.packet(first + i).fate_record == first + kCount + i);
  }
}

BOOST_AUTO_TEST_CASE(what_never_arrives_has_vanished) {
  Traffic traffic(Where::every_point);
  ordinary(traffic);
  const std::uint64_t first = traffic.last() + 1;
  traffic.record(traffic.frame(traffic.headers_of(Operation::send_only, 15, true), 16, true), 0);
  traffic.send(16);
  const std::uint64_t last = traffic.last() + 1;
  traffic.record(traffic.frame(traffic.headers_of(Operation::send_only, 17, true), 16, true), 0);
  traffic.tracker().finish();
  BOOST_TEST((traffic.packet(first).fate == Fate::vanished));
  // May have been under way when the capture ended.
  BOOST_TEST((traffic.packet(last).fate == Fate::unknown));
}

BOOST_AUTO_TEST_CASE(answers_of_faults_come_from_nobody) {
  Traffic traffic(Where::every_point);
  ordinary(traffic);
  wire::TransportHeaders headers = traffic.headers_of(Operation::acknowledge, 15, false);
  headers.aeth.syndrome = wire::rnr_nak_syndrome(1);
  traffic.record(traffic.frame(headers, 0, false), 1, "made by a fault: a rule");
  BOOST_TEST(traffic.packet(traffic.last()).injected);
  BOOST_TEST(verdict_text(traffic.tracker(), traffic.packet(traffic.last())) ==
             "made by a fault; no receive for PSN 15");
}

BOOST_AUTO_TEST_CASE(psns_wrap) {
  for (const Where where : {Where::every_point, Where::at_sender}) {
    Traffic traffic(where);
    for (std::uint32_t i = 0; i < 20; ++i) {
      traffic.send((0xFFFFF6 + i) & 0xFFFFFF);
      traffic.ack((0xFFFFF6 + i) & 0xFFFFFF);
    }
    BOOST_TEST(text_of(traffic.remarks()) == "");
    BOOST_TEST(traffic.tracker().flows()[0].counters.goodput == 320u);
  }
}

BOOST_AUTO_TEST_CASE(unreliable_services_have_gaps_and_no_answers) {
  Traffic traffic(Where::at_receiver);
  traffic.service = wire::Service::uc;
  traffic.sends(1, 3);
  traffic.send(6);
  BOOST_TEST(text_of(traffic.remarks()) == text_of({"4: 2 PSNs are missing before it"}));
  BOOST_TEST(traffic.tracker().flows()[0].counters.goodput == 64u);
  BOOST_TEST(traffic.tracker().flows()[0].counters.missing == 2u);
}

BOOST_AUTO_TEST_CASE(connections_with_the_same_psns_stay_apart_until_they_differ) {
  Traffic traffic(Where::at_sender);
  const auto both = [&](auto&& act) {
    for (const std::uint32_t number : {0U, 1U}) {
      traffic.qp_of_a = 0x11 + number;
      traffic.qp_of_b = 0x22 + number;
      act();
    }
  };
  both([&] { traffic.send(1); });
  both([&] { traffic.ack(1); });
  BOOST_TEST((traffic.tracker().flows()[0].pairing == Pairing::unknown));
  BOOST_TEST(verdict_text(traffic.tracker(), traffic.packet(3)) == "of an unknown connection");
  traffic.send(2);
  traffic.ack(2);
  BOOST_TEST((traffic.tracker().flows()[1].pairing == Pairing::by_traffic));
  BOOST_TEST(traffic.tracker().flows()[1].source_qp.value == 0x12u);
  // Only one is left for the other.
  traffic.qp_of_a = 0x11;
  traffic.qp_of_b = 0x22;
  traffic.send(2);
  traffic.ack(2);
  BOOST_TEST(traffic.tracker().flows()[0].source_qp.value == 0x11u);
  BOOST_TEST(connections_of(traffic.tracker()).size() == 2u);
}

BOOST_AUTO_TEST_CASE(the_connection_manager_names_both_queue_pairs) {
  Traffic traffic(Where::at_sender);
  namespace mad = wire::mad;
  const auto datagram = [&](const auto& message, bool from_a) {
    wire::TransportHeaders headers;
    headers.bth.opcode = wire::Opcode(wire::Service::ud, Operation::send_only);
    headers.bth.destination = wire::Qpn{1};
    headers.deth = {.qkey = 0x80010000, .source = wire::Qpn{1}};
    const mad::Mad bytes = mad::encode(message, {1});
    wire::NetworkHeaders network;
    network.source.bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, 1};
    network.destination.bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, 2};
    if (!from_a) std::swap(network.source, network.destination);
    wire::FrameStorage storage;
    traffic.record(wire::test::join(wire::encode(network, headers, bytes, storage)), 0);
  };
  mad::Req req;
  req.local_id = {0x77};
  req.local_qpn = wire::Qpn{0x11};
  mad::Rep rep;
  rep.remote_id = {0x77};
  rep.local_qpn = wire::Qpn{0x22};
  datagram(req, true);
  datagram(rep, false);
  traffic.send(5);
  const Flow& flow = traffic.tracker().flows().back();
  BOOST_TEST((flow.pairing == Pairing::by_cm));
  BOOST_TEST(flow.source_qp.value == 0x11u);
  // The numbers serve another connection later, with other PSNs.
  traffic.send(5'000'000);
  BOOST_TEST(traffic.tracker().flows().size() == 4u);
  BOOST_TEST((traffic.packet(4).order == Order::next));
}

BOOST_AUTO_TEST_CASE(memory_is_bounded_and_old_packets_are_forgotten) {
  Traffic traffic(Where::at_sender, 100);
  for (std::uint32_t psn = 0; psn < 5000; ++psn) {
    traffic.send(psn);
    if (psn % 4 == 3) traffic.ack(psn);
  }
  BOOST_TEST((traffic.tracker().packets().end() - traffic.tracker().packets().begin()) == 100u);
  BOOST_TEST(traffic.tracker().packet(1) == nullptr);
  BOOST_TEST(traffic.tracker().packet(traffic.last())->acks == 4u);
  BOOST_TEST(traffic.tracker().flows()[0].counters.goodput == 5000u * 16);
}

BOOST_AUTO_TEST_CASE(a_missing_stretch_of_the_capture_is_no_end) {
  Traffic traffic(Where::at_sender);
  traffic.sends(1, 3);
  traffic.ack(3);
  traffic.send(20000);
  traffic.ack(20000);
  BOOST_TEST(traffic.packet(5).gap == 19996u);
  BOOST_TEST(traffic.packet(6).acks_last == 5u);
}

BOOST_AUTO_TEST_CASE(what_changes_later_is_told) {
  Traffic traffic(Where::at_sender);
  ordinary(traffic);
  traffic.send(15);
  BOOST_TEST(traffic.tracker().changed().empty());
  traffic.ack(15);
  BOOST_REQUIRE(traffic.tracker().changed().size() == 1u);
  BOOST_TEST(traffic.tracker().packets()[traffic.tracker().changed()[0]].number == 7u);
  BOOST_TEST((traffic.packet(7).fate == Fate::acknowledged));
}

BOOST_AUTO_TEST_CASE(round_trips_count_packets_that_were_sent_once) {
  Traffic traffic(Where::at_sender);
  traffic.send(1);
  traffic.ack(1);
  traffic.send(2);
  traffic.send(2);
  traffic.ack(2);
  std::uint32_t round_trips = 0;
  double sum = 0;
  for (const Interval& interval : traffic.tracker().flows()[0].series.intervals()) {
    round_trips += interval.round_trips;
    sum += interval.round_trip_sum;
  }
  BOOST_TEST(round_trips == 1u);
  BOOST_TEST(sum == Traffic::kStep);
}

// A capture from which records are missing, or that repeats some, must never be judged outside of what is
// there.
BOOST_AUTO_TEST_CASE(records_at_random_are_survived) {
  std::mt19937 random(1);
  const auto pick = [&](std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); };
  for (const Where where : {Where::every_point, Where::at_sender}) {
    Traffic traffic(where, 64);
    for (int i = 0; i < 20000; ++i) {
      traffic.reversed = pick(3) == 0;
      traffic.lose = pick(5) == 0;
      traffic.qp_of_a = 0x11 + pick(2);
      const std::uint32_t psn = 1000 + pick(40) + (pick(50) == 0 ? 300000 : 0);
      switch (pick(7)) {
        case 0:
          traffic.nak(psn);
          break;
        case 1:
          traffic.selective(psn, psn + pick(70), random());
          break;
        case 2:
          traffic.read(psn, pick(100000));
          break;
        case 3:
          traffic.response(Operation::read_response_middle, psn, 1024);
          break;
        case 4:
          traffic.ack(psn);
          break;
        default:
          traffic.send(psn);
      }
    }
    BOOST_TEST(!traffic.remarks().empty());
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::analysis::test
