// The laboratory's link: the product's (tests/unit/link tests that), with losses on purpose.
#define BOOST_TEST_DYN_LINK
#include "tests/unit/recovery/link.hpp"

#include <boost/test/unit_test.hpp>
#include <vector>

#include "wire/aeth.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::lab;

namespace laboratory_link {

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
std::vector<std::uint32_t> arrivals(const LinkSettings& settings, int count,
                                    wire::TransportHeaders headers = kData) {
  Link link(settings, 7, 0);
  for (int i = 0; i < count; ++i) {
    headers.bth.psn = wire::Psn(static_cast<std::uint32_t>(i));
    link.send(headers, 1024, link.free_at());
  }
  std::vector<std::uint32_t> orders;
  while (link.next_arrival()) orders.push_back(link.take().headers.bth.psn.value());
  return orders;
}

}  // namespace laboratory_link

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

// With preamble, frame check sequence and gap.
BOOST_AUTO_TEST_CASE(a_packet_takes_its_slot_and_the_delay) {
  LinkSettings settings;
  settings.impairments.rate_gbps = 1;
  settings.impairments.delay = std::chrono::microseconds(5);
  Link link(settings, 1, 0);
  BOOST_CHECK_EQUAL(line_bytes(kData, 1024), 1082u + 24);
  const Nanoseconds slot(8 * 1106);
  const Time begin{std::chrono::nanoseconds(100)};
  link.send(kData, 1024, begin);
  BOOST_CHECK(link.free_at() == begin + slot);
  link.send(kData, 1024, begin);  // too early: it waits for its slot
  BOOST_CHECK(link.free_at() == begin + 2 * slot);
  BOOST_CHECK(link.next_arrival() == begin + slot + settings.impairments.delay);
  link.take();
  BOOST_CHECK(link.next_arrival() == begin + 2 * slot + settings.impairments.delay);
  link.take();
  BOOST_CHECK(!link.next_arrival());
}

BOOST_AUTO_TEST_CASE(independent_loss_has_its_share) {
  constexpr int kPackets = 1'000'000;
  LinkSettings settings;
  set_loss(settings.impairments, {.loss = 0.01});
  const double lost = static_cast<double>(kPackets - arrivals(settings, kPackets).size());
  BOOST_CHECK_SMALL(lost / kPackets - 0.01, 0.0005);
}

BOOST_AUTO_TEST_CASE(bursts_have_their_mean_length_and_the_share_of_loss) {
  constexpr int kPackets = 2'000'000;
  LinkSettings settings;
  set_loss(settings.impairments, {.loss = 0.03, .mean_burst = 8});
  const auto orders = arrivals(settings, kPackets);
  const double lost = static_cast<double>(kPackets - orders.size());
  BOOST_CHECK_SMALL(lost / kPackets - 0.03, 0.002);
  int bursts = 0;
  for (std::size_t i = 1; i < orders.size(); ++i) bursts += orders[i] - orders[i - 1] > 1 ? 1 : 0;
  BOOST_CHECK_SMALL(lost / bursts - 8, 0.5);
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
  settings.drop = [](const wire::TransportHeaders&, std::uint64_t order, Nanoseconds) { return order == 2; };
  const std::vector<std::uint32_t> expected{0, 1, 3, 4};
  const auto orders = arrivals(settings, 5);
  BOOST_CHECK_EQUAL_COLLECTIONS(orders.begin(), orders.end(), expected.begin(), expected.end());
}

BOOST_AUTO_TEST_SUITE_END()
