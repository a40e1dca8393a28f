// Packets of InfiniBand: a published sample, and the rules of both CRCs.
#include <array>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <string_view>
#include <vector>

#include "wire/infiniband/invariant_crc.hpp"
#include "wire/infiniband/packet.hpp"

namespace urnic::wire::infiniband::test {
namespace {

using Bytes = std::vector<std::byte>;

Bytes from_hex(std::string_view digits) {
  Bytes bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16)));
  return bytes;
}

// A sample of the specification: an RDMA WRITE on virtual lane 7, with its ICRC 96 25 B7 5A as published. The
// VCRC is computed by two programs that know nothing of each other.
const Bytes kLocal = from_hex(
    "7012375c000e17d20a2024870087b1b3000dec2a01710a1c015d400238f27a050000000ebb884d85fd5cfba4728bc0690ed40000"
    "9625b75a45fa");

// With a GRH and a payload of `size` bytes.
Bytes sample(bool global, std::size_t size) {
  Route route;
  route.local = {.virtual_lane = 3, .service_level = 5, .destination = {0x1234}, .source = {0x0567}};
  if (global) {
    route.global.emplace();
    route.global->traffic_class = 0x9A;
    route.global->flow_label = 0x54321;
    route.global->hop_limit = 64;
    route.global->source.bytes[15] = 1;
    route.global->destination.bytes[0] = 0xFF;
  }
  TransportHeaders transport;
  transport.bth.opcode = Opcode(Service::rc, Operation::send_only);
  transport.bth.pkey = Pkey{0xFFFF};
  transport.bth.destination = Qpn{0x123456};
  transport.bth.psn = Psn(0xABCDEF);
  Bytes payload(size, std::byte{0x5A});
  Bytes room(kMaxPacketBytes);
  const auto packet = encode(route, transport, payload, room.data());
  return {packet.begin(), packet.end()};
}

PacketError parse_of(const Bytes& bytes) {
  ParsedPacket parsed;
  return parse(bytes, parsed);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(infiniband_packet)

BOOST_AUTO_TEST_CASE(the_published_sample_is_right) {
  ParsedPacket parsed;
  BOOST_TEST((parse(kLocal, parsed) == PacketError::none));
  BOOST_TEST(parsed.route.local.virtual_lane == 7);
  BOOST_TEST(parsed.route.local.service_level == 1);
  BOOST_TEST(parsed.route.local.destination.value == 0x375C);
  BOOST_TEST(parsed.route.local.source.value == 0x17D2);
  BOOST_TEST(parsed.route.local.words == 14);
  BOOST_TEST(!parsed.route.global.has_value());
  BOOST_TEST((parsed.transport.bth.opcode == Opcode(Service::rc, Operation::write_only)));
  BOOST_TEST(parsed.payload.size() == 14u);
}

BOOST_AUTO_TEST_CASE(the_published_sample_is_encoded_again) {
  ParsedPacket parsed;
  BOOST_REQUIRE((parse(kLocal, parsed) == PacketError::none));
  Bytes room(kMaxPacketBytes);
  const auto again = encode(parsed.route, parsed.transport, parsed.payload, room.data());
  BOOST_TEST((Bytes(again.begin(), again.end()) == kLocal));
}

BOOST_AUTO_TEST_CASE(every_size_comes_back) {
  for (const bool global : {false, true}) {
    for (const std::size_t size : {0, 1, 2, 3, 4, 5, 255, 256, 4093, 4096}) {
      const Bytes packet = sample(global, size);
      ParsedPacket parsed;
      BOOST_TEST((parse(packet, parsed) == PacketError::none));
      BOOST_TEST(parsed.payload.size() == size);
      BOOST_TEST(parsed.route.global.has_value() == global);
      if (!global) continue;
      BOOST_TEST(parsed.route.global->payload_bytes == packet.size() - 8 - 40 - 2);
      BOOST_TEST(parsed.route.global->flow_label == 0x54321u);
      BOOST_TEST(parsed.route.global->traffic_class == 0x9A);
    }
  }
}

// What the ICRC does not cover (IBTA 7.8.1), and that it covers all the rest.
BOOST_AUTO_TEST_CASE(the_invariant_crc_ignores_what_the_way_changes) {
  for (const bool global : {false, true}) {
    const Bytes packet = sample(global, 8);
    const std::size_t routes = global ? 48 : 8;
    const auto crc_of = [&](const Bytes& bytes) {
      return invariant_crc(std::span(bytes).first(routes + 12),
                           std::span(bytes).subspan(routes + 12, bytes.size() - routes - 12 - 6));
    };
    for (std::size_t bit = 0; bit < (packet.size() - 6) * 8; ++bit) {
      Bytes changed = packet;
      changed[bit / 8] ^= static_cast<std::byte>(0x80 >> bit % 8);
      const std::size_t at = bit / 8;
      bool ignored = at == routes + 4;  // FECN, BECN and reserved bits of the BTH
      if (!global) {
        ignored = ignored || bit < 4;          // the virtual lane
        if (bit == 14 || bit == 15) continue;  // LNH: the packet would have other headers
      } else {
        if (bit == 14 || bit == 15) continue;
        ignored = ignored || at < 8 || (bit >= 8 * 8 + 4 && at < 12) || at == 8 + 7;
      }
      BOOST_TEST((crc_of(changed) == crc_of(packet)) == ignored,
                 "bit " << bit << (global ? " with" : " without"));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_variant_crc_covers_every_bit) {
  const Bytes packet = sample(false, 4);
  for (std::size_t bit = 0; bit < packet.size() * 8; ++bit) {
    Bytes changed = packet;
    changed[bit / 8] ^= static_cast<std::byte>(0x80 >> bit % 8);
    BOOST_TEST((parse_of(changed) != PacketError::none), "bit " << bit);
  }
}

BOOST_AUTO_TEST_CASE(another_lane_needs_another_variant_crc_only) {
  Bytes packet = sample(false, 100);
  change_virtual_lane(packet, 14);
  ParsedPacket parsed;
  BOOST_TEST((parse(packet, parsed) == PacketError::none));
  BOOST_TEST(parsed.route.local.virtual_lane == 14);
  packet[0] = std::byte{0x20};
  BOOST_TEST((parse_of(packet) == PacketError::bad_variant_crc));
}

BOOST_AUTO_TEST_CASE(no_length_is_trusted) {
  for (const bool global : {false, true}) {
    const Bytes packet = sample(global, 20);
    for (std::size_t size = 0; size < packet.size(); ++size)
      BOOST_TEST((parse_of({packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(size)}) ==
                  PacketError::truncated));
    Bytes longer = packet;
    longer.resize(longer.size() + 4);
    BOOST_TEST((parse_of(longer) == PacketError::truncated));
  }
}

BOOST_AUTO_TEST_CASE(other_packets_are_told_apart) {
  struct Case {
    std::size_t at;
    std::uint8_t byte;
    PacketError error;
  };
  constexpr Case kCases[] = {
      {0, 0x31, PacketError::not_transport},    // link version 1
      {1, 0x50, PacketError::not_transport},    // raw
      {1, 0x51, PacketError::not_transport},    // raw IPv6
      {1, 0x53, PacketError::not_transport},    // a GRH that is none
      {9, 0x01, PacketError::bad_transport},    // BTH version 1
      {9, 0x30, PacketError::bad_variant_crc},  // three bytes of pad
  };
  for (const Case& each : kCases) {
    Bytes packet = sample(false, 60);
    packet[each.at] = std::byte{each.byte};
    BOOST_TEST((parse_of(packet) == each.error), "byte " << each.at << " is " << int{each.byte});
  }
}

BOOST_AUTO_TEST_CASE(lids_of_groups) {
  BOOST_TEST(!is_multicast({0xBFFF}));
  BOOST_TEST(is_multicast({0xC000}));
  BOOST_TEST(is_multicast({0xFFFE}));
  BOOST_TEST(!is_multicast(kPermissiveLid));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::wire::infiniband::test
