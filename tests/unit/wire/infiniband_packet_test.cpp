// Packets of InfiniBand: a published sample, and the rules of both CRCs.
#include <array>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/unit/wire/infiniband_link.hpp"
#include "wire/frame_template.hpp"
#include "wire/infiniband/invariant_crc.hpp"

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

NetworkHeaders way(bool global) {
  NetworkHeaders network;
  network.local = LocalRoute{
      .destination = {0x1234}, .source = {0x0567}, .service_level = 5, .virtual_lane = 3, .with_grh = global};
  if (!global) return network;
  network.traffic_class = 0x9A;
  network.flow_label = 0x54321;
  network.source.bytes[15] = 1;
  network.destination.bytes[0] = 0xFF;
  return network;
}

TransportHeaders some_send() {
  TransportHeaders transport;
  transport.bth.opcode = Opcode(Service::rc, Operation::send_only);
  transport.bth.pkey = Pkey{0xFFFF};
  transport.bth.destination = Qpn{0x123456};
  transport.bth.psn = Psn(0xABCDEF);
  return transport;
}

// With a GRH and a payload of `size` bytes.
Bytes sample(bool global, std::size_t size, Icrc check = Icrc::made) {
  const Bytes payload(size, std::byte{0x5A});
  FrameStorage storage;
  return on_link(FrameTemplate(way(global)).encode(some_send(), payload, storage, check));
}

// As a receiver looks at a packet: its link first.
std::optional<ParseError> parse_of(const Bytes& bytes, ParsedFrame& parsed) {
  if (!has_right_variant_crc(bytes)) return {};
  return wire::parse(frame_of(bytes), parsed);
}

bool is_refused(const Bytes& bytes) {
  ParsedFrame parsed;
  return parse_of(bytes, parsed) != ParseError::none;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(infiniband_packet)

BOOST_AUTO_TEST_CASE(the_published_sample_is_right) {
  ParsedFrame parsed;
  BOOST_TEST((parse_of(kLocal, parsed) == ParseError::none));
  BOOST_REQUIRE(parsed.network.local.has_value());
  const LocalRoute& local = *parsed.network.local;
  BOOST_TEST(local.virtual_lane == 7);
  BOOST_TEST(local.service_level == 1);
  BOOST_TEST(local.destination.value == 0x375C);
  BOOST_TEST(local.source.value == 0x17D2);
  BOOST_TEST(!local.with_grh);
  BOOST_TEST((parsed.transport.bth.opcode == Opcode(Service::rc, Operation::write_only)));
  BOOST_TEST(parsed.payload.size() == 14u);
}

BOOST_AUTO_TEST_CASE(the_published_sample_is_encoded_again) {
  ParsedFrame parsed;
  BOOST_REQUIRE((parse_of(kLocal, parsed) == ParseError::none));
  FrameStorage storage;
  BOOST_TEST((on_link(encode(parsed.network, parsed.transport, parsed.payload, storage)) == kLocal));
}

BOOST_AUTO_TEST_CASE(every_size_comes_back) {
  for (const bool global : {false, true}) {
    for (const std::size_t size : {0, 1, 2, 3, 4, 5, 255, 256, 4093, 4096}) {
      ParsedFrame parsed;
      BOOST_TEST((parse_of(sample(global, size), parsed) == ParseError::none));
      BOOST_TEST(parsed.payload.size() == size);
      NetworkHeaders sent = way(global);
      if (!global) sent.hop_limit = parsed.network.hop_limit;  // no GRH has it
      BOOST_TEST((parsed.network == sent));
      BOOST_TEST(FrameTemplate(sent).frame_bytes(some_send().bth.opcode, size) + 2 ==
                 sample(global, size).size());
    }
  }
}

BOOST_AUTO_TEST_CASE(an_icrc_that_is_owed_is_the_same) {
  for (const bool global : {false, true})
    BOOST_TEST((sample(global, 61, Icrc::owed) == sample(global, 61, Icrc::made)));
}

// As the built-in fabric hands it on.
BOOST_AUTO_TEST_CASE(a_frame_in_pieces_is_read) {
  for (const Icrc check : {Icrc::made, Icrc::owed}) {
    const Bytes payload(33, std::byte{7});
    FrameStorage storage;
    const Frame frame = FrameTemplate(way(true)).encode(some_send(), payload, storage, check);
    ParsedFrame parsed;
    BOOST_TEST((wire::parse(frame, parsed) == ParseError::none));
    BOOST_TEST(parsed.payload.data() == payload.data());
    BOOST_TEST((parsed.network == way(true)));
    Frame shorter = frame;
    shorter.payload = shorter.payload.first(32);
    BOOST_TEST((wire::parse(shorter, parsed) == ParseError::truncated));
  }
}

BOOST_AUTO_TEST_CASE(an_ethernet_frame_behind_it_is_not_taken_for_one) {
  ParsedFrame parsed;
  BOOST_REQUIRE((parse_of(sample(true, 8), parsed) == ParseError::none));
  NetworkHeaders network;
  FrameStorage storage;
  BOOST_TEST((wire::parse(encode(network, some_send(), {}, storage), parsed) == ParseError::none));
  BOOST_TEST(!parsed.network.local.has_value());
}

BOOST_AUTO_TEST_CASE(answers_come_between_the_same_ports) {
  for (const bool global : {false, true}) {
    const NetworkHeaders path = way(global);
    NetworkHeaders answer = path;
    std::swap(answer.source, answer.destination);
    std::swap(answer.local->source, answer.local->destination);
    BOOST_TEST(is_return(answer, path));
    BOOST_TEST(!is_return(path, path));
    NetworkHeaders other = answer;
    other.local->source.value ^= 1;
    BOOST_TEST(!is_return(other, path));
    other = answer;
    other.local->destination.value ^= 1;
    BOOST_TEST(!is_return(other, path));
    other = answer;
    other.local->with_grh = !global;
    BOOST_TEST(!is_return(other, path));
    other = answer;
    other.local.reset();
    BOOST_TEST(!is_return(other, path));
    other = answer;
    other.source.bytes[3] ^= 1;
    BOOST_TEST(is_return(other, path) == !global);
  }
}

// What the ICRC does not cover (IBTA 7.8.1), and that it covers all the rest.
BOOST_AUTO_TEST_CASE(the_invariant_crc_ignores_what_the_way_changes) {
  for (const bool global : {false, true}) {
    const Bytes packet = sample(global, 8);
    const std::size_t routes = global ? 48 : 8;
    const auto crc_of = [&](const Bytes& bytes) {
      return invariant_crc(std::span(bytes).first(routes + 12),
                           std::span(bytes).subspan(routes + 12, bytes.size() - routes - 12 - 6), {});
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
    BOOST_TEST(!has_right_variant_crc(changed), "bit " << bit);
  }
}

BOOST_AUTO_TEST_CASE(another_lane_needs_another_variant_crc_only) {
  Bytes packet = sample(false, 100);
  packet[0] = std::byte{0xE0};
  BOOST_TEST(is_refused(packet));
  ParsedFrame parsed;
  BOOST_TEST((parse_of(with_variant_crc(packet), parsed) == ParseError::none));
  BOOST_TEST(parsed.network.local->virtual_lane == 14);
}

BOOST_AUTO_TEST_CASE(no_length_is_trusted) {
  for (const bool global : {false, true}) {
    const Bytes packet = sample(global, 20);
    for (std::size_t size = 2; size < packet.size(); ++size) {
      ParsedFrame parsed;
      const Bytes shorter(packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(size));
      BOOST_TEST((wire::parse(frame_of(shorter), parsed) == ParseError::truncated), "size " << size);
    }
    Bytes longer = packet;
    longer.resize(longer.size() + 4);
    ParsedFrame parsed;
    BOOST_TEST((wire::parse(frame_of(longer), parsed) == ParseError::truncated));
  }
  BOOST_TEST(!has_right_variant_crc({}));
}

BOOST_AUTO_TEST_CASE(other_packets_are_told_apart) {
  struct Case {
    bool global;
    std::size_t at;
    std::uint8_t byte;
    ParseError error;
  };
  constexpr Case kCases[] = {
      {false, 0, 0x31, ParseError::raw_packet},             // link version 1
      {false, 1, 0x50, ParseError::raw_packet},             // raw
      {false, 1, 0x51, ParseError::raw_packet},             // raw IPv6
      {false, 1, 0x53, ParseError::raw_packet},             // a GRH that is none
      {false, 9, 0x01, ParseError::bad_transport_version},  // BTH version 1
      {false, 9, 0x30, ParseError::bad_icrc},               // three bytes of pad
      {true, 8, 0x59, ParseError::raw_packet},              // not version 6
      {true, 13, 0x00, ParseError::truncated},              // another length than the LRH's
      {true, 14, 0x11, ParseError::raw_packet},             // UDP behind the GRH
  };
  for (const Case& each : kCases) {
    Bytes packet = sample(each.global, 60);
    packet[each.at] = std::byte{each.byte};
    ParsedFrame parsed;
    BOOST_TEST((parse_of(with_variant_crc(packet), parsed) == each.error),
               "byte " << each.at << " is " << int{each.byte});
  }
}

BOOST_AUTO_TEST_CASE(lids_of_groups) {
  BOOST_TEST(!is_multicast(Lid{0xBFFF}));
  BOOST_TEST(is_multicast(Lid{0xC000}));
  BOOST_TEST(is_multicast(Lid{0xFFFE}));
  BOOST_TEST(!is_multicast(kPermissiveLid));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::wire::infiniband::test
