// Frames with the tag of a VLAN (IEEE 802.1Q).
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "sample_frames.hpp"
#include "wire/byte_order.hpp"
#include "wire/frame_template.hpp"
#include "wire/network_codec.hpp"

namespace urnic::wire::test {
namespace vlan_tags {

constexpr Opcode kSendOnly(Service::rc, Operation::send_only);
constexpr std::uint16_t kTag = 3u << 13 | 5;

NetworkHeaders in_vlan(NetworkHeaders network, std::uint16_t tag = kTag) {
  network.vlan_tag = tag;
  return network;
}

Bytes without_tag(Bytes frame) {
  frame.erase(frame.begin() + kEtherTypeOffset, frame.begin() + kEtherTypeOffset + kVlanTagBytes);
  return frame;
}

BOOST_AUTO_TEST_SUITE(vlan_tags)

// The tag stands between the Ethernet addresses and the type. The ICRC and both checksums do not cover it.
BOOST_AUTO_TEST_CASE(a_tag_changes_nothing_else_in_the_frame) {
  for (NetworkHeaders network : {ipv4_network(), ipv6_network()}) {
    for (const std::uint16_t udp_checksum : {std::uint16_t{0}, std::uint16_t{1}}) {
      network.udp_checksum = udp_checksum;
      for (const std::size_t payload : {0u, 1u, 37u, 4096u}) {
        const Bytes tagged = encoded(in_vlan(network), transport_for(kSendOnly), payload);
        const Bytes plain = encoded(network, transport_for(kSendOnly), payload);
        BOOST_TEST(be16(tagged, 12) == 0x8100);
        BOOST_TEST(be16(tagged, 14) == kTag);
        BOOST_TEST(without_tag(tagged) == plain);
        ParsedFrame parsed;
        BOOST_TEST(parse(std::span<const std::byte>(tagged), parsed) == ParseError::none);
        BOOST_TEST(parsed.network.vlan_tag == kTag);
        BOOST_TEST(parsed.payload.size() == payload);
        BOOST_TEST((parsed.network.source == network.source));
        BOOST_TEST(encoded(parsed.network, parsed.transport, payload) == tagged);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_frame_without_a_tag_has_none_whatever_was_parsed_before) {
  ParsedFrame parsed;
  parsed.network.vlan_tag = kTag;
  BOOST_TEST(parse(std::span<const std::byte>(ipv4_send(8)), parsed) == ParseError::none);
  BOOST_TEST(parsed.network.vlan_tag == 0);
}

BOOST_AUTO_TEST_CASE(an_owed_icrc_is_paid_behind_a_tag) {
  for (const NetworkHeaders& network : {in_vlan(ipv4_network()), in_vlan(ipv6_network())}) {
    const FrameTemplate frames(network);
    const Bytes payload = payload_of(37);
    FrameStorage storage;
    const Frame frame = frames.encode(transport_for(kSendOnly), payload, storage, Icrc::owed);
    BOOST_TEST(frame.size() == frames.frame_bytes(kSendOnly, 37));
    ParsedFrame parsed;
    BOOST_TEST(parse(frame, parsed) == ParseError::none);
    Bytes copy(frame.size());
    copy_whole(frame, copy.data());
    BOOST_TEST(copy == encoded(network, transport_for(kSendOnly), 37));
  }
}

BOOST_AUTO_TEST_CASE(damage_behind_a_tag_is_found) {
  for (const NetworkHeaders& network : {in_vlan(ipv4_network()), in_vlan(ipv6_network())}) {
    const Bytes right = encoded(network, transport_for(kSendOnly), 16);
    for (std::size_t at = right.size() - 24; at < right.size(); ++at) {
      Bytes damaged = right;
      damaged[at] ^= std::byte{1};
      BOOST_TEST(parse_copy(damaged) != ParseError::none);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_frame_that_ends_in_its_tag_is_truncated) {
  const Bytes tagged = encoded(in_vlan(ipv4_network()), transport_for(kSendOnly), 16);
  for (std::size_t size = 0; size < tagged.size(); ++size)
    BOOST_TEST(parse_copy(std::span(tagged).first(size)) == ParseError::truncated);
  BOOST_TEST(parse_copy(tagged) == ParseError::none);
}

// Service VLANs (802.1ad), and a VLAN in a VLAN.
BOOST_AUTO_TEST_CASE(other_tags_are_no_roce) {
  Bytes frame = encoded(in_vlan(ipv4_network()), transport_for(kSendOnly), 16);
  set_be16(frame, 12, 0x88A8);
  BOOST_TEST(parse_copy(frame) == ParseError::not_roce);
  set_be16(frame, 12, 0x8100);
  const Bytes tag(frame.begin() + 12, frame.begin() + 16);
  frame.insert(frame.begin() + 12, tag.begin(), tag.end());
  BOOST_TEST(parse_copy(frame) == ParseError::not_roce);
}

BOOST_AUTO_TEST_CASE(the_priority_is_the_service_levels_lower_bits) {
  BOOST_TEST(vlan_tag(5, 0) == 5);
  BOOST_TEST(vlan_tag(4094, 7) == 0xEFFE);
  BOOST_TEST(vlan_tag(5, 11) == kTag);
  BOOST_TEST(vlan_tag(0, 7) == 0);
  BOOST_TEST(vlan_of(kTag) == 5);
}

BOOST_AUTO_TEST_CASE(a_return_has_the_paths_vlan_and_any_priority) {
  const NetworkHeaders path = in_vlan(ipv4_network());
  NetworkHeaders arrived = path;
  std::swap(arrived.source, arrived.destination);
  BOOST_TEST(is_return(arrived, path));
  for (const unsigned same : {5u, 7u << 13 | 5u, 0x1005u})
    BOOST_TEST(is_return(in_vlan(arrived, static_cast<std::uint16_t>(same)), path));
  for (const unsigned other : {0u, 6u, 4u, 0x805u, 3u << 13})
    BOOST_TEST(!is_return(in_vlan(arrived, static_cast<std::uint16_t>(other)), path));
  // A priority alone is of no VLAN (IEEE 802.1Q 6.9.1).
  BOOST_TEST(is_return(in_vlan(arrived, 3u << 13), ipv4_network()));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace vlan_tags
}  // namespace urnic::wire::test
