// The laboratory's link does what it is told: what is measured over it is worth no more than this.
#define BOOST_TEST_DYN_LINK
#include "tests/unit/recovery/link.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <vector>

#include "wire/aeth.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::lab;

namespace {

wire::TransportHeaders headers_of(wire::Operation operation) {
  wire::TransportHeaders headers;
  headers.bth.opcode = wire::Opcode(wire::Service::rc, operation);
  return headers;
}

const wire::TransportHeaders kData = headers_of(wire::Operation::write_middle);

wire::TransportHeaders acknowledge(std::uint8_t syndrome) {
  wire::TransportHeaders headers = headers_of(wire::Operation::acknowledge);
  headers.aeth.syndrome = syndrome;
  return headers;
}

// Sends `count` packets back to back; the orders of those that arrive.
std::vector<std::uint64_t> arrivals(const LinkSettings& settings, int count,
                                    const wire::TransportHeaders& headers = kData) {
  Link link(settings, 7);
  for (int i = 0; i < count; ++i) link.send(headers, 1024, link.free_at());
  std::vector<std::uint64_t> orders;
  while (link.next_arrival() != kNever) orders.push_back(link.take().order);
  return orders;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(laboratory_link)

BOOST_AUTO_TEST_CASE(frames_have_their_length_on_the_wire) {
  BOOST_CHECK_EQUAL(frame_bytes(kData, 1024), 14u + 20 + 8 + 12 + 1024 + 4);
  BOOST_CHECK_EQUAL(frame_bytes(headers_of(wire::Operation::write_first), 1021),
                    14u + 20 + 8 + 28 + 1024 + 4);
  wire::TransportHeaders nak = acknowledge(wire::nak_syndrome(wire::NakCode::psn_sequence_error));
  BOOST_CHECK_EQUAL(frame_bytes(nak, 0), 14u + 20 + 8 + 16 + 4);
  nak.bth.opcode = wire::kSelectiveAcknowledge;
  BOOST_CHECK_EQUAL(frame_bytes(nak, 0), 14u + 20 + 8 + 16 + 12 + 4);
}

BOOST_AUTO_TEST_CASE(a_packet_takes_its_slot_and_the_delay) {
  LinkSettings settings;
  settings.bits_per_second = 1e9;
  settings.delay = std::chrono::microseconds(5);
  Link link(settings, 1);
  const Picoseconds slot = std::chrono::nanoseconds(8 * 1082);
  const Picoseconds begin = std::chrono::nanoseconds(100);
  link.send(kData, 1024, begin);
  BOOST_CHECK(link.free_at() == begin + slot);
  link.send(kData, 1024, begin);  // too early: it waits for its slot
  BOOST_CHECK(link.free_at() == begin + 2 * slot);
  BOOST_CHECK(link.take().arrival == begin + slot + settings.delay);
  BOOST_CHECK(link.take().arrival == begin + 2 * slot + settings.delay);
  BOOST_CHECK(link.next_arrival() == kNever);
}

BOOST_AUTO_TEST_CASE(independent_loss_has_its_share_and_no_memory) {
  constexpr int kPackets = 1'000'000;
  LinkSettings settings;
  settings.loss = {.loss = 0.01};
  const auto orders = arrivals(settings, kPackets);
  const double lost = static_cast<double>(kPackets - orders.size());
  BOOST_CHECK_SMALL(lost / kPackets - 0.01, 0.0005);
  int pairs = 0;  // of packets lost one behind the other
  for (std::size_t i = 1; i < orders.size(); ++i) pairs += orders[i] - orders[i - 1] > 2 ? 1 : 0;
  BOOST_CHECK_SMALL(pairs / lost - 0.01, 0.004);
}

BOOST_AUTO_TEST_CASE(bursts_have_their_mean_length_and_the_share_of_loss) {
  constexpr int kPackets = 2'000'000;
  LinkSettings settings;
  settings.loss = {.loss = 0.03, .mean_burst = 8};
  const auto orders = arrivals(settings, kPackets);
  const double lost = static_cast<double>(kPackets - orders.size());
  BOOST_CHECK_SMALL(lost / kPackets - 0.03, 0.002);
  int bursts = 0;
  for (std::size_t i = 1; i < orders.size(); ++i) bursts += orders[i] - orders[i - 1] > 1 ? 1 : 0;
  BOOST_CHECK_SMALL(lost / bursts - 8, 0.5);
}

BOOST_AUTO_TEST_CASE(order_is_kept_but_for_packets_held_back) {
  LinkSettings settings;
  settings.duplication = 0.5;
  const auto doubled = arrivals(settings, 1000);
  BOOST_CHECK(std::is_sorted(doubled.begin(), doubled.end()));
  BOOST_CHECK_GT(doubled.size(), 1400u);

  settings.duplication = 0;
  settings.reordering = 0.1;
  // Eight and a half slots of 1,082 bytes.
  settings.held_back_least = settings.held_back_most = Picoseconds(85 * 8656);
  const auto orders = arrivals(settings, 10'000);
  BOOST_CHECK_EQUAL(orders.size(), 10'000u);
  std::uint64_t overtaken = 0;
  for (std::size_t i = 0; i < orders.size(); ++i) {
    std::uint64_t before = 0;  // packets sent later that arrived earlier
    for (std::size_t j = i < 20 ? 0 : i - 20; j < i; ++j) before += orders[j] > orders[i] ? 1 : 0;
    overtaken += before > 0 ? 1 : 0;
    BOOST_REQUIRE_LE(before, 8u);
  }
  BOOST_CHECK_GT(overtaken, 800u);
}

BOOST_AUTO_TEST_CASE(acknowledgements_and_naks_are_lost_separately) {
  LinkSettings settings;
  settings.acknowledge_loss = 1;
  const auto ack = acknowledge(wire::ack_syndrome(3));
  const auto nak = acknowledge(wire::nak_syndrome(wire::NakCode::psn_sequence_error));
  BOOST_CHECK_EQUAL(arrivals(settings, 100, ack).size(), 0u);
  BOOST_CHECK_EQUAL(arrivals(settings, 100, nak).size(), 100u);
  BOOST_CHECK_EQUAL(arrivals(settings, 100, kData).size(), 100u);
  settings.acknowledge_loss = 0;
  settings.nak_loss = 1;
  BOOST_CHECK_EQUAL(arrivals(settings, 100, ack).size(), 100u);
  BOOST_CHECK_EQUAL(arrivals(settings, 100, nak).size(), 0u);
}

BOOST_AUTO_TEST_CASE(a_packet_can_be_dropped_by_its_place) {
  LinkSettings settings;
  settings.drop = [](const wire::TransportHeaders&, std::uint64_t order, Picoseconds) { return order == 2; };
  const std::vector<std::uint64_t> expected{0, 1, 3, 4};
  const auto orders = arrivals(settings, 5);
  BOOST_CHECK_EQUAL_COLLECTIONS(orders.begin(), orders.end(), expected.begin(), expected.end());
}

BOOST_AUTO_TEST_SUITE_END()
