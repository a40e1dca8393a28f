// Selective acknowledges (docs/selective-acks.md): their layout, and that the ICRC covers them.
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <string>
#include <vector>

#include "sample_frames.hpp"
#include "wire/frame_template.hpp"
#include "wire/transport_codec.hpp"

namespace urnic::wire::test {
namespace {

constexpr std::size_t kSelectiveAckBytes = 12;
constexpr std::size_t kAeth4 = kBth4 + kBthBytes;
constexpr std::size_t kSelectiveAck4 = kAeth4 + 4;

ParseError parsed_into(const Bytes& bytes, ParsedFrame& parsed) {
  return parse(std::span<const std::byte>(bytes), parsed);
}

// `headers` without their selective-ack header.
Bytes without_selective_ack(const TransportHeaders& headers) {
  Bytes bytes = encoded(ipv4_network(), headers, 0);
  bytes.erase(bytes.begin() + kSelectiveAck4, bytes.begin() + kSelectiveAck4 + kSelectiveAckBytes);
  repair_ipv4_lengths(bytes);
  return bytes;
}

BOOST_AUTO_TEST_SUITE(selective_ack)

BOOST_AUTO_TEST_CASE(layout_is_reserved_latest_earlier) {
  const Bytes bytes = encoded(ipv4_network(), selective_nak(), 0);
  BOOST_TEST(bytes.size() == kSelectiveAck4 + kSelectiveAckBytes + 4);
  const unsigned expected[] = {0x71, 0x72, 0x73, 0x74, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88};
  for (std::size_t at = 0; at < kSelectiveAckBytes; ++at) {
    BOOST_TEST(std::to_integer<unsigned>(bytes[kSelectiveAck4 + at]) == expected[at]);
  }
}

BOOST_AUTO_TEST_CASE(survives_a_round_trip_whole_and_in_pieces) {
  for (const NetworkHeaders& network : {ipv4_network(), ipv6_network()}) {
    FrameStorage storage;
    const Frame frame = encode(network, selective_nak(), {}, storage);
    ParsedFrame pieces;
    BOOST_TEST(parse(frame, pieces) == ParseError::none);
    BOOST_TEST((pieces.transport.selective_ack_eth == selective_nak().selective_ack_eth));
    ParsedFrame whole;
    BOOST_TEST(parsed_into(join(frame), whole) == ParseError::none);
    BOOST_TEST((whole.transport == pieces.transport));
    FrameStorage again;
    BOOST_TEST(join(FrameTemplate(whole.network).encode(whole.transport, {}, again)) == join(frame));
  }
}

// The specification leaves opcodes whose upper three bits are 111 to manufacturers (IBTA 9.2.1, table 38).
BOOST_AUTO_TEST_CASE(its_opcode_is_a_manufacturers) {
  BOOST_TEST(int{kSelectiveAcknowledge.value} == 0xF1);
  BOOST_TEST((kSelectiveAcknowledge.service() == Service::manufacturer));
  BOOST_TEST((kSelectiveAcknowledge.operation() == Operation::acknowledge));
}

BOOST_AUTO_TEST_CASE(no_other_opcode_but_an_offer_carries_one) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    const Opcode opcode{static_cast<std::uint8_t>(byte)};
    const bool carries = (traits(opcode).headers & has_selective_ack) != 0;
    BOOST_TEST(carries == (opcode == kSelectiveAcknowledge || opcode == kSelectiveAckOffer));
  }
}

BOOST_AUTO_TEST_CASE(another_length_is_refused) {
  BOOST_TEST(parse_copy(without_selective_ack(selective_nak())) == ParseError::truncated);
  for (std::size_t more : {4, 8, 12, 64}) {
    Bytes longer = encoded(ipv4_network(), selective_nak(), 0);
    longer.resize(longer.size() + more);
    repair_ipv4_lengths(longer);
    BOOST_TEST(parse_copy(longer) == ParseError::bad_length);
  }
  for (std::size_t less = 1; less < kSelectiveAckBytes; ++less) {
    Bytes shorter = encoded(ipv4_network(), selective_nak(), 0);
    shorter.resize(shorter.size() - less);
    repair_ipv4_lengths(shorter);
    BOOST_TEST(parse_copy(shorter) == ParseError::truncated);
  }
}

BOOST_AUTO_TEST_CASE(an_acknowledge_of_the_specification_with_the_header_is_too_long) {
  Bytes bytes = encoded(ipv4_network(), selective_nak(), 0);
  bytes[kBth4] = std::byte{0x11};
  BOOST_TEST(parse_copy(bytes) == ParseError::bad_length);
}

BOOST_AUTO_TEST_CASE(a_frame_cut_at_any_length_is_refused) {
  const Bytes whole = encoded(ipv4_network(), selective_nak(), 0);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    BOOST_TEST_CONTEXT("first " << size) {
      BOOST_TEST(parse_copy(std::span(whole).first(size)) == ParseError::truncated);
    }
  }
}

BOOST_AUTO_TEST_CASE(pieces_divided_elsewhere_are_refused) {
  const Bytes whole = encoded(ipv4_network(), selective_nak(), 0);
  for (std::size_t headers = 0; headers < whole.size(); ++headers) {
    const Bytes first(whole.begin(), whole.begin() + static_cast<long>(headers));
    const Bytes last(whole.begin() + static_cast<long>(headers), whole.end());
    ParsedFrame parsed;
    const ParseError error = parse(Frame{.headers = first, .payload = {}, .trailer = last}, parsed);
    const bool fits = headers == kSelectiveAck4 + kSelectiveAckBytes;
    BOOST_TEST_CONTEXT("divided at " << headers) {
      BOOST_TEST(error == (fits ? ParseError::none : ParseError::truncated));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_icrc_covers_every_bit_of_it) {
  Bytes bytes = encoded(ipv4_network(), selective_nak(), 0);
  for (std::size_t bit = kSelectiveAck4 * 8; bit < (kSelectiveAck4 + kSelectiveAckBytes) * 8; ++bit) {
    bytes[bit / 8] ^= static_cast<std::byte>(0x80 >> bit % 8);
    BOOST_TEST(parse_copy(bytes) == ParseError::bad_icrc);
    bytes[bit / 8] ^= static_cast<std::byte>(0x80 >> bit % 8);
  }
}

// The lines of the first block of hex in the page, "0000  02 00 ...".
Bytes example_in(const std::string& page) {
  std::ifstream file(page);
  BOOST_REQUIRE_MESSAGE(file, "cannot read " << page);
  Bytes bytes;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (line.rfind("    00", 0) != 0 || word.size() != 4) continue;
    while (words >> word) bytes.push_back(static_cast<std::byte>(std::stoul(word, nullptr, 16)));
  }
  return bytes;
}

BOOST_AUTO_TEST_CASE(the_example_in_the_documentation_is_a_real_packet) {
  NetworkHeaders network = ipv4_network();
  network.traffic_class = 0;
  network.hop_limit = 64;
  network.ip_identification = 0;
  TransportHeaders headers;
  headers.bth.opcode = kSelectiveAcknowledge;
  headers.bth.destination = Qpn{0x12};
  headers.bth.psn = Psn(100);
  headers.aeth = {nak_syndrome(NakCode::psn_sequence_error), Msn{7}};
  headers.selective_ack_eth = {.reserved = 0, .latest = Psn(104), .earlier = 0xFFFFFFFFFFFFFFF5};
  const Bytes expected = encoded(network, headers, 0);
  const Bytes shown = example_in(URNIC_DOCS_DIR "/selective-acks.md");
  BOOST_TEST(shown == expected);
  if (shown != expected) {
    std::ostringstream hex;
    for (std::size_t at = 0; at < expected.size(); ++at) {
      if (at % 16 == 0) hex << "\n    " << std::setw(4) << std::setfill('0') << std::hex << at << ' ';
      hex << ' ' << std::setw(2) << std::setfill('0') << std::hex << std::to_integer<unsigned>(expected[at]);
    }
    BOOST_TEST_MESSAGE("the page should show:" << hex.str());
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::wire::test
