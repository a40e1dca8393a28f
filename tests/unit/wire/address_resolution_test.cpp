#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <vector>

#include "sample_frames.hpp"
#include "wire/arp.hpp"
#include "wire/ethernet.hpp"
#include "wire/internet_checksum.hpp"
#include "wire/neighbour_discovery.hpp"

namespace urnic::wire::test {
namespace {

constexpr MacAddress kOwn{{0x02, 0, 0, 0, 0, 1}};
constexpr MacAddress kPeer{{0x52, 0x54, 0, 0, 0, 2}};

Gid ipv4(std::uint8_t last) { return {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 0, 0, last}}; }
Gid ipv6(std::uint8_t last) { return {{0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xAB, 0xCD, last}}; }

Bytes bytes(std::initializer_list<int> values) {
  Bytes result;
  for (const int value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

NeighbourMessage solicitation() {
  const Gid group = solicited_node_group(ipv6(2));
  return {.kind = NeighbourMessageKind::solicitation,
          .destination_mac = {{0x33, 0x33, 0xFF, 0xAB, 0xCD, 2}},
          .source_mac = kOwn,
          .destination = group,
          .source = ipv6(1),
          .target = ipv6(2),
          .solicited = false,
          .overrides = false,
          .link_layer = kOwn};
}

NeighbourMessage advertisement() {
  return {.kind = NeighbourMessageKind::advertisement,
          .destination_mac = kOwn,
          .source_mac = kPeer,
          .destination = ipv6(1),
          .source = ipv6(2),
          .target = ipv6(2),
          .solicited = true,
          .overrides = true,
          .link_layer = kPeer};
}

// With a right checksum again.
Bytes changed(const NeighbourMessage& message, std::size_t offset, int value) {
  const NeighbourFrame frame = encode_neighbour(message);
  Bytes result(frame.begin(), frame.end());
  result[offset] = static_cast<std::byte>(value);
  result[56] = result[57] = std::byte{0};
  InternetSum sum;
  sum.add(std::span(result).subspan(22, 32));
  sum.add_be16(32);
  sum.add_be16(58);
  sum.add(std::span(result).subspan(54));
  const std::uint16_t right = sum.checksum();
  std::memcpy(result.data() + 56, &right, sizeof right);
  return result;
}

constexpr std::size_t kHopLimitAt = 21;
constexpr std::size_t kCodeAt = 55;
constexpr std::size_t kTargetAt = 62;
constexpr std::size_t kOptionLengthAt = 79;

BOOST_AUTO_TEST_SUITE(address_resolution)

// As Linux asks for 10.0.0.2.
BOOST_AUTO_TEST_CASE(an_arp_request_byte_for_byte) {
  const ArpFrame frame = encode_arp({ArpOperation::request, kOwn, ipv4(1), {}, ipv4(2)}, kBroadcastMac);
  const Bytes expected =
      bytes({0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02, 0,  0, 0, 0, 1, 0x08, 0x06, 0, 1, 0x08, 0,  6, 4, 0,
             1,    0x02, 0,    0,    0,    0,    1,    10, 0, 0, 1, 0, 0,    0,    0, 0, 0,    10, 0, 0, 2});
  BOOST_TEST((Bytes(frame.begin(), frame.end()) == expected));
}

BOOST_AUTO_TEST_CASE(arp_is_parsed_as_it_was_encoded) {
  const Arp reply{ArpOperation::reply, kPeer, ipv4(2), kOwn, ipv4(1)};
  const ArpFrame frame = encode_arp(reply, kOwn);
  BOOST_TEST((parse_arp(frame) == reply));
  Bytes padded(frame.begin(), frame.end());
  padded.resize(60);
  BOOST_TEST((parse_arp(padded) == reply));
}

BOOST_AUTO_TEST_CASE(what_is_not_arp_for_ipv4_is_refused) {
  const ArpFrame frame = encode_arp({ArpOperation::request, kOwn, ipv4(1), {}, ipv4(2)}, kBroadcastMac);
  const Bytes right(frame.begin(), frame.end());
  for (std::size_t length = 0; length < right.size(); ++length)
    BOOST_TEST(!parse_arp(std::span(right).first(length)));
  // EtherType, the formats and lengths of addresses, the operation.
  for (std::size_t offset = 12; offset < 22; ++offset) {
    Bytes wrong = right;
    wrong[offset] ^= std::byte{0x80};
    BOOST_TEST(!parse_arp(wrong), "byte " << offset);
  }
}

BOOST_AUTO_TEST_CASE(neighbour_messages_are_parsed_as_they_were_encoded) {
  for (const NeighbourMessage& message : {solicitation(), advertisement()})
    BOOST_TEST((parse_neighbour(encode_neighbour(message)) == message));
}

BOOST_AUTO_TEST_CASE(a_solicitation_has_the_form_of_the_rfc) {
  const NeighbourFrame frame = encode_neighbour(solicitation());
  BOOST_TEST((Bytes(frame.begin(), frame.begin() + 22) ==
              bytes({0x33, 0x33, 0xFF, 0xAB, 0xCD, 2, 0x02, 0, 0,  0,  0,
                     1,    0x86, 0xDD, 0x60, 0,    0, 0,    0, 32, 58, 255})));
  BOOST_TEST((Bytes(frame.begin() + 54, frame.begin() + 56) == bytes({135, 0})));
  BOOST_TEST((Bytes(frame.begin() + 78, frame.end()) == bytes({1, 1, 0x02, 0, 0, 0, 0, 1})));
}

BOOST_AUTO_TEST_CASE(no_shorter_frame_and_no_flipped_bit_passes) {
  const NeighbourFrame frame = encode_neighbour(advertisement());
  const Bytes right(frame.begin(), frame.end());
  for (std::size_t length = 0; length < right.size(); ++length)
    BOOST_TEST(!parse_neighbour(std::span(right).first(length)));
  for (std::size_t bit = 54 * 8; bit < right.size() * 8; ++bit) {
    Bytes wrong = right;
    wrong[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    BOOST_TEST(!parse_neighbour(wrong), "bit " << bit);
  }
}

BOOST_AUTO_TEST_CASE(what_the_rfc_tells_to_discard_is_discarded) {
  BOOST_TEST((parse_neighbour(changed(advertisement(), kCodeAt, 0)) == advertisement()));
  BOOST_TEST(!parse_neighbour(changed(advertisement(), kHopLimitAt, 254)));
  BOOST_TEST(!parse_neighbour(changed(advertisement(), kCodeAt, 1)));
  BOOST_TEST(!parse_neighbour(changed(advertisement(), kTargetAt, 0xFF)));
  BOOST_TEST(!parse_neighbour(changed(advertisement(), kOptionLengthAt, 0)));
  BOOST_TEST(!parse_neighbour(changed(advertisement(), kOptionLengthAt, 2)));
  NeighbourMessage to_all = advertisement();
  to_all.destination = {{0xFF, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
  BOOST_TEST(!parse_neighbour(encode_neighbour(to_all)));  // solicited, yet to all
  NeighbourMessage unspecified = solicitation();
  unspecified.source = {};
  BOOST_TEST(!parse_neighbour(encode_neighbour(unspecified)));  // with a link-layer address
}

BOOST_AUTO_TEST_CASE(the_group_of_an_address) {
  const Gid group{{0xFF, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xFF, 0xAB, 0xCD, 2}};
  BOOST_TEST((solicited_node_group(ipv6(2)) == group));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::wire::test
