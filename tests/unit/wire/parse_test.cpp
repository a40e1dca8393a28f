// Every reason to refuse a frame; and parsing reads nothing behind the end of a frame that is cut short.
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <string>

#include "sample_frames.hpp"
#include "wire/frame.hpp"

namespace urnic::wire::test {
namespace {

constexpr Opcode kAcknowledge(Service::rc, Operation::acknowledge);

void set(Bytes& bytes, std::size_t at, unsigned value) { bytes[at] = static_cast<std::byte>(value); }

// An IPv4 send whose byte `at` is changed and whose IPv4 header checksum is right again.
Bytes changed_ipv4(std::size_t at, unsigned value) {
  Bytes bytes = ipv4_send(8);
  set(bytes, at, value);
  repair_ipv4_checksum(bytes);
  return bytes;
}

Bytes changed_ipv6(std::size_t at, unsigned value) {
  Bytes bytes = ipv6_send(8);
  set(bytes, at, value);
  return bytes;
}

// Each piece is an exact-size copy, so that a sanitizer sees a read behind its end.
ParseError parse_pieces(const Bytes& headers, const Bytes& payload, const Bytes& trailer) {
  ParsedFrame parsed;
  return parse(Frame{.headers = headers, .payload = payload, .trailer = trailer}, parsed);
}

struct Pieces {
  Bytes headers;
  Bytes payload;
  Bytes trailer;
};

Pieces send_in_pieces(const NetworkHeaders& network, std::size_t payload_bytes) {
  FrameStorage storage;
  const Bytes payload = payload_of(payload_bytes);
  const Frame frame =
      encode(network, transport_for(Opcode(Service::rc, Operation::write_only_immediate)), payload, storage);
  return {{frame.headers.begin(), frame.headers.end()},
          {frame.payload.begin(), frame.payload.end()},
          {frame.trailer.begin(), frame.trailer.end()}};
}

BOOST_AUTO_TEST_SUITE(parse_refuses)

BOOST_AUTO_TEST_CASE(a_frame_cut_at_any_length) {
  for (const Bytes& whole :
       {ipv4_send(37), ipv6_send(37), encoded(ipv4_network(), transport_for(kAcknowledge), 0)}) {
    for (std::size_t size = 0; size < whole.size(); ++size) {
      BOOST_TEST_CONTEXT("first " << size) {
        BOOST_TEST(parse_copy(std::span(whole).first(size)) == ParseError::truncated);
      }
    }
    BOOST_TEST(parse_copy(whole) == ParseError::none);
  }
}

BOOST_AUTO_TEST_CASE(a_frame_cut_with_lengths_to_match) {
  // The IP and UDP lengths agree with the cut, so the transport headers, the pad or the ICRC show it.
  const Bytes whole = encoded(ipv4_network(), transport_for(Opcode(Service::rc, Operation::write_only)), 6);
  const std::size_t headers = kBth4 + 12 + 16;
  for (std::size_t size = kBth4; size < whole.size(); ++size) {
    Bytes cut(whole.begin(), whole.begin() + static_cast<long>(size));
    repair_ipv4_lengths(cut);
    const ParseError expected = size < headers + 4          ? ParseError::truncated
                                : (size - headers) % 4 != 0 ? ParseError::bad_pad
                                : size == headers + 4       ? ParseError::bad_pad
                                                            : ParseError::bad_icrc;
    BOOST_TEST_CONTEXT("first " << size) { BOOST_TEST(parse_copy(cut) == expected); }
  }
}

BOOST_AUTO_TEST_CASE(pieces_cut_at_any_length) {
  for (const NetworkHeaders& network : {ipv4_network(), ipv6_network()}) {
    for (std::size_t payload_bytes : {0, 5, 8}) {
      const Pieces whole = send_in_pieces(network, payload_bytes);
      BOOST_TEST(parse_pieces(whole.headers, whole.payload, whole.trailer) == ParseError::none);
      for (Bytes Pieces::*piece : {&Pieces::headers, &Pieces::payload, &Pieces::trailer}) {
        Pieces cut = whole;
        while (!(cut.*piece).empty()) {
          (cut.*piece) = Bytes((cut.*piece).begin(), (cut.*piece).end() - 1);
          BOOST_TEST(parse_pieces(cut.headers, cut.payload, cut.trailer) == ParseError::truncated);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(pieces_that_divide_elsewhere_than_the_headers_say) {
  for (const NetworkHeaders& network : {ipv4_network(), ipv6_network()}) {
    const Pieces right = send_in_pieces(network, 7);
    const Bytes whole =
        join(Frame{.headers = right.headers, .payload = right.payload, .trailer = right.trailer});
    const std::size_t payload_at = right.headers.size();
    const std::size_t trailer_at = payload_at + right.payload.size();
    const auto at = [&](std::size_t offset) { return whole.begin() + static_cast<long>(offset); };
    for (std::size_t first = 0; first <= whole.size(); ++first) {
      for (std::size_t second = first; second <= whole.size(); ++second) {
        const bool fits = (first == payload_at && second == trailer_at) || first == whole.size();
        const ParseError error =
            parse_pieces({at(0), at(first)}, {at(first), at(second)}, {at(second), whole.end()});
        if (error != (fits ? ParseError::none : ParseError::truncated)) {
          BOOST_ERROR("divided at " << first << " and " << second << ": " << describe(error));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(pieces_with_bytes_behind_the_packet) {
  // Only a frame in one piece may have Ethernet padding; pieces have no place for it.
  Pieces longer = send_in_pieces(ipv4_network(), 8);
  longer.trailer.push_back(std::byte{0});
  BOOST_TEST(parse_pieces(longer.headers, longer.payload, longer.trailer) == ParseError::truncated);
}

BOOST_AUTO_TEST_CASE(lengths_that_contradict_each_other) {
  Bytes bytes = ipv4_send(8);
  set_be16(bytes, kIp + 2, bytes.size() - kIp + 1);
  repair_ipv4_checksum(bytes);
  BOOST_TEST(parse_copy(bytes) == ParseError::truncated);
  bytes = ipv4_send(8);
  set_be16(bytes, kIp + 2, 27);
  repair_ipv4_checksum(bytes);
  BOOST_TEST(parse_copy(bytes) == ParseError::truncated);
  set_be16(bytes, kUdp4 + 4, 7);  // agrees with 27, but a UDP header has 8
  BOOST_TEST(parse_copy(bytes) == ParseError::truncated);
  bytes = ipv4_send(8);
  set_be16(bytes, kUdp4 + 4, bytes.size() - kUdp4 - 4);
  BOOST_TEST(parse_copy(bytes) == ParseError::truncated);
  bytes = ipv6_send(8);
  set_be16(bytes, kIp + 4, bytes.size() - kUdp6 + 1);
  BOOST_TEST(parse_copy(bytes) == ParseError::truncated);
  bytes = ipv6_send(8);
  set_be16(bytes, kIp + 4, 7);
  BOOST_TEST(parse_copy(bytes) == ParseError::truncated);
  set_be16(bytes, kUdp6 + 4, 7);
  BOOST_TEST(parse_copy(bytes) == ParseError::truncated);
}

BOOST_AUTO_TEST_CASE(what_is_for_somebody_else) {
  BOOST_TEST(parse_copy(changed_ipv4(13, 0x06)) == ParseError::not_roce);         // ARP
  BOOST_TEST(parse_copy(changed_ipv4(kIp, 0x46)) == ParseError::not_roce);        // IP options
  BOOST_TEST(parse_copy(changed_ipv4(kIp, 0x65)) == ParseError::not_roce);        // version 6
  BOOST_TEST(parse_copy(changed_ipv4(kIp + 9, 6)) == ParseError::not_roce);       // TCP
  BOOST_TEST(parse_copy(changed_ipv4(kUdp4 + 3, 0xB6)) == ParseError::not_roce);  // port 4790
  BOOST_TEST(parse_copy(changed_ipv6(kIp, 0x46)) == ParseError::not_roce);        // version 4
  BOOST_TEST(parse_copy(changed_ipv6(kIp + 6, 58)) == ParseError::not_roce);      // ICMPv6
  BOOST_TEST(parse_copy(changed_ipv6(kUdp6 + 2, 0x13)) == ParseError::not_roce);  // port 5047
}

BOOST_AUTO_TEST_CASE(ipv6_between_mapped_addresses) {
  Bytes bytes = ipv6_send(8);
  const NetworkHeaders mapped = ipv4_network();
  for (std::size_t at = 0; at < 16; ++at) {
    set(bytes, kIp + 8 + at, mapped.source.bytes[at]);
    set(bytes, kIp + 24 + at, mapped.destination.bytes[at]);
  }
  BOOST_TEST(parse_copy(bytes) == ParseError::not_roce);
}

BOOST_AUTO_TEST_CASE(fragments) {
  BOOST_TEST(parse_copy(changed_ipv4(kIp + 6, 0x20)) == ParseError::fragment);  // more fragments
  BOOST_TEST(parse_copy(changed_ipv4(kIp + 7, 0x01)) == ParseError::fragment);  // offset 8
  BOOST_TEST(parse_copy(changed_ipv4(kIp + 6, 0x10)) == ParseError::fragment);  // offset 32768
  BOOST_TEST(parse_copy(changed_ipv6(kIp + 6, 44)) == ParseError::fragment);
}

BOOST_AUTO_TEST_CASE(wrong_checksums) {
  Bytes bytes = ipv4_send(8);
  bytes[kIp + 10] ^= std::byte{1};
  BOOST_TEST(parse_copy(bytes) == ParseError::bad_ip_checksum);
  for (bool ipv4 : {true, false}) {
    NetworkHeaders network = ipv4 ? ipv4_network() : ipv6_network();
    network.udp_checksum = 1;
    bytes = encoded(network, transport_for(Opcode(Service::rc, Operation::send_only)), 8);
    bytes.back() ^= std::byte{1};
    BOOST_TEST(parse_copy(bytes) == ParseError::bad_udp_checksum);
  }
}

BOOST_AUTO_TEST_CASE(wrong_udp_checksum_in_pieces) {
  NetworkHeaders network = ipv4_network();
  network.udp_checksum = 1;
  Pieces pieces = send_in_pieces(network, 5);
  BOOST_TEST(parse_pieces(pieces.headers, pieces.payload, pieces.trailer) == ParseError::none);
  for (Bytes Pieces::*piece : {&Pieces::headers, &Pieces::payload, &Pieces::trailer}) {
    Pieces changed = pieces;
    (changed.*piece).back() ^= std::byte{4};
    BOOST_TEST(parse_pieces(changed.headers, changed.payload, changed.trailer) ==
               ParseError::bad_udp_checksum);
  }
}

BOOST_AUTO_TEST_CASE(another_transport_version) {
  for (unsigned version = 1; version < 16; ++version) {
    Bytes bytes = ipv4_send(8);
    set(bytes, kBth4 + 1, version);
    BOOST_TEST(parse_copy(bytes) == ParseError::bad_transport_version);
  }
}

BOOST_AUTO_TEST_CASE(every_reserved_opcode) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    const Opcode opcode{static_cast<std::uint8_t>(byte)};
    if (traits(opcode).known) continue;
    Bytes bytes = encoded(ipv4_network(), transport_for(opcode), 8);
    BOOST_TEST(parse_copy(bytes) == ParseError::unknown_opcode);
    ParsedFrame parsed;
    parse(std::span<const std::byte>(bytes), parsed);
    BOOST_TEST((parsed.transport.bth == transport_for(opcode).bth));
    BOOST_TEST(parsed.payload.size() == 8u);
    // Any other error is reported first.
    bytes.back() ^= std::byte{1};
    BOOST_TEST(parse_copy(bytes) == ParseError::bad_icrc);
  }
}

BOOST_AUTO_TEST_CASE(payload_where_the_opcode_has_none) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    const Opcode opcode{static_cast<std::uint8_t>(byte)};
    if (!traits(opcode).known || traits(opcode).carries_payload) continue;
    BOOST_TEST(parse_copy(encoded(ipv4_network(), transport_for(opcode), 4)) == ParseError::bad_length);
    BOOST_TEST(parse_copy(encoded(ipv4_network(), transport_for(opcode), 1)) == ParseError::bad_length);
  }
}

BOOST_AUTO_TEST_CASE(payload_above_the_largest_mtu) {
  BOOST_TEST(parse_copy(ipv4_send(kMaxPayloadBytes + 1)) == ParseError::bad_length);
  BOOST_TEST(parse_copy(ipv4_send(60000)) == ParseError::bad_length);
}

BOOST_AUTO_TEST_CASE(pad_that_does_not_fit) {
  // More pad than there are bytes behind the headers.
  for (unsigned pad = 1; pad <= 3; ++pad) {
    Bytes bytes = ipv4_send(0);
    set(bytes, kBth4 + 1, pad << 4);
    BOOST_TEST(parse_copy(bytes) == ParseError::bad_pad);
  }
  // Payload and pad no multiple of four.
  for (std::size_t extra = 1; extra <= 3; ++extra) {
    Bytes bytes = ipv4_send(8);
    bytes.resize(bytes.size() + extra);
    repair_ipv4_lengths(bytes);
    BOOST_TEST(parse_copy(bytes) == ParseError::bad_pad);
  }
}

BOOST_AUTO_TEST_CASE(wrong_icrc) {
  for (std::size_t from_end = 1; from_end <= 4; ++from_end) {
    Bytes bytes = ipv4_send(8);
    bytes[bytes.size() - from_end] ^= std::byte{0x80};
    BOOST_TEST(parse_copy(bytes) == ParseError::bad_icrc);
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(parse_takes)

BOOST_AUTO_TEST_CASE(ethernet_padding_behind_the_packet) {
  Bytes bytes = ipv4_send(5);
  bytes.resize(bytes.size() + 20, std::byte{0xEE});
  ParsedFrame parsed;
  BOOST_TEST(parse(std::span<const std::byte>(bytes), parsed) == ParseError::none);
  BOOST_TEST(Bytes(parsed.payload.begin(), parsed.payload.end()) == payload_of(5));
}

BOOST_AUTO_TEST_CASE(a_frame_whole_in_its_first_piece) {
  BOOST_TEST(parse_pieces(ipv4_send(5), {}, {}) == ParseError::none);
  BOOST_TEST(parse_pieces(ipv6_send(0), {}, {}) == ParseError::none);
}

BOOST_AUTO_TEST_CASE(a_packet_that_routers_have_changed) {
  Bytes bytes = ipv4_send(5);
  set(bytes, kIp + 1, 0x6B);  // congestion experienced
  set(bytes, kIp + 8, 1);     // time to live
  repair_ipv4_checksum(bytes);
  BOOST_TEST(parse_copy(bytes) == ParseError::none);
  bytes = ipv6_send(5);
  set(bytes, kIp + 1, 0xB0);  // traffic class and flow label
  set(bytes, kIp + 2, 0);
  set(bytes, kIp + 7, 1);  // hop limit
  BOOST_TEST(parse_copy(bytes) == ParseError::none);
}

BOOST_AUTO_TEST_CASE(every_error_has_its_own_words) {
  for (unsigned a = 0; a <= static_cast<unsigned>(ParseError::unknown_opcode); ++a) {
    BOOST_TEST(std::string(describe(static_cast<ParseError>(a))) != "unknown error");
    for (unsigned b = 0; b < a; ++b) {
      BOOST_TEST(describe(static_cast<ParseError>(a)) != std::string(describe(static_cast<ParseError>(b))));
    }
  }
  BOOST_TEST(describe(static_cast<ParseError>(200)) == std::string("unknown error"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::wire::test
