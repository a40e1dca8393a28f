#include "wire/frame.hpp"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <cstring>

#include "sample_frames.hpp"
#include "wire/frame_template.hpp"

namespace urnic::wire::test {
namespace {

constexpr Opcode kSendOnly(Service::rc, Operation::send_only);

// The UDP checksum that `frame` should have, with the pseudo header of RFC 768 or RFC 8200 8.1.
std::uint16_t expected_udp_checksum(Bytes frame, std::size_t udp) {
  set_be16(frame, udp + 6, 0);
  const std::size_t addresses = udp == kUdp4 ? 8 : 32;
  Bytes summed(frame.begin() + static_cast<long>(udp - addresses), frame.begin() + static_cast<long>(udp));
  const std::size_t length = frame.size() - udp;
  for (std::size_t value : {std::size_t{0}, std::size_t{17}, length >> 8, length & 0xFF}) {
    summed.push_back(static_cast<std::byte>(value));
  }
  summed.insert(summed.end(), frame.begin() + static_cast<long>(udp), frame.end());
  return plain_checksum(summed);
}

void check_round_trip(const NetworkHeaders& network, Opcode opcode, std::size_t payload_bytes) {
  const Bytes payload = payload_of(payload_bytes);
  FrameStorage storage;
  const Frame frame = encode(network, transport_for(opcode), payload, storage);
  const Bytes bytes = join(frame);
  ParsedFrame whole;
  ParsedFrame pieces;
  BOOST_TEST(parse(std::span<const std::byte>(bytes), whole) == ParseError::none);
  BOOST_TEST(parse(frame, pieces) == ParseError::none);
  BOOST_TEST((whole.network == network));
  BOOST_TEST((pieces.network == network));
  BOOST_TEST((whole.transport == pieces.transport));
  BOOST_TEST(Bytes(whole.payload.begin(), whole.payload.end()) == payload);
  BOOST_TEST(pieces.payload.data() == payload.data());
  BOOST_TEST(pieces.payload.size() == payload.size());
  FrameStorage again;
  BOOST_TEST(join(encode(whole.network, whole.transport, whole.payload, again)) == bytes);
}

BOOST_AUTO_TEST_SUITE(frames)

// A frame that owes its ICRC is the same but for it, until it is paid.
BOOST_AUTO_TEST_CASE(an_icrc_may_be_owed) {
  for (const NetworkHeaders& network : {ipv4_network(), ipv6_network()}) {
    for (const std::size_t length : {0u, 1u, 37u, 4096u}) {
      const Bytes payload = payload_of(length);
      const FrameTemplate frames(network);
      FrameStorage made, owing;
      const Bytes right = join(frames.encode(transport_for(kSendOnly), payload, made));
      const Frame frame = frames.encode(transport_for(kSendOnly), payload, owing, Icrc::owed);
      ParsedFrame parsed;
      BOOST_TEST((parse(frame, parsed) == ParseError::none));
      BOOST_TEST((parse(join(frame), parsed) == ParseError::bad_icrc));
      BOOST_TEST(join(frame) != right);
      pay_icrc(frame);
      BOOST_TEST(join(frame) == right);
      BOOST_TEST((parse(frame, parsed) == ParseError::none));
    }
  }
}

// The UDP checksum covers the ICRC.
// The payload may change between the copy and the ICRC, if that were made of the original.
BOOST_AUTO_TEST_CASE(a_copy_pays_what_its_original_owes) {
  const FrameTemplate frames(ipv4_network());
  for (const std::size_t size : {0, 1, 3, 4, 1000}) {
    const auto payload = payload_of(size);
    FrameStorage storage;
    const Frame frame = frames.encode(transport_for(kSendOnly), payload, storage, Icrc::owed);
    const auto trailer_before = storage.trailer;
    Bytes copy(frame.size());
    copy_whole(frame, copy.data());
    BOOST_TEST(copy == encoded(ipv4_network(), transport_for(kSendOnly), size));
    BOOST_TEST((storage.trailer == trailer_before));
    Bytes again(copy.size());
    copy_whole({.headers = copy, .payload = {}, .trailer = {}}, again.data());
    BOOST_TEST(again == copy);
  }
}

BOOST_AUTO_TEST_CASE(with_a_udp_checksum_no_icrc_is_owed) {
  NetworkHeaders network = ipv4_network();
  network.udp_checksum = 1;
  FrameStorage storage;
  const Frame frame =
      FrameTemplate(network).encode(transport_for(kSendOnly), payload_of(10), storage, Icrc::owed);
  BOOST_TEST(frame.owed_icrc == nullptr);
}

// What does not hang on the ICRC is checked all the same.
BOOST_AUTO_TEST_CASE(a_frame_that_owes_its_icrc_may_be_wrong_otherwise) {
  FrameStorage storage;
  const Bytes payload = payload_of(8);
  Frame frame = FrameTemplate(ipv4_network()).encode(transport_for(kSendOnly), payload, storage, Icrc::owed);
  frame.payload = frame.payload.first(4);
  ParsedFrame parsed;
  BOOST_TEST((parse(frame, parsed) == ParseError::truncated));
}

BOOST_AUTO_TEST_CASE(every_opcode_survives_a_round_trip) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    const Opcode opcode{static_cast<std::uint8_t>(byte)};
    if (!traits(opcode).known) continue;
    const std::size_t payload = traits(opcode).carries_payload ? 37 : 0;
    BOOST_TEST_CONTEXT(name(opcode)) {
      check_round_trip(ipv4_network(), opcode, payload);
      check_round_trip(ipv6_network(), opcode, payload);
    }
  }
}

BOOST_AUTO_TEST_CASE(every_small_payload_and_the_largest_survive_a_round_trip) {
  for (std::size_t size = 0; size <= 130; ++size) {
    BOOST_TEST_CONTEXT("payload " << size) {
      check_round_trip(ipv4_network(), kSendOnly, size);
      check_round_trip(ipv6_network(), kSendOnly, size);
    }
  }
  check_round_trip(ipv4_network(), kSendOnly, kMaxPayloadBytes);
  check_round_trip(ipv6_network(), kSendOnly, kMaxPayloadBytes - 1);
}

BOOST_AUTO_TEST_CASE(pad_fills_to_a_multiple_of_four_with_zeros) {
  // IBTA 9.2.3. The caller's pad is ignored.
  TransportHeaders transport = transport_for(kSendOnly);
  transport.bth.pad = 2;
  for (std::size_t size = 0; size < 9; ++size) {
    const std::size_t pad = (4 - size % 4) % 4;
    const Bytes bytes = encoded(ipv4_network(), transport, size);
    BOOST_TEST(bytes.size() == kBth4 + 12 + size + pad + 4);
    BOOST_TEST((std::to_integer<unsigned>(bytes[kBth4 + 1]) >> 4 & 3) == pad);
    for (std::size_t at = 0; at < pad; ++at) BOOST_TEST((bytes[kBth4 + 12 + size + at] == std::byte{0}));
  }
}

BOOST_AUTO_TEST_CASE(ipv4_header_is_right) {
  const Bytes bytes = ipv4_send(101);
  BOOST_TEST(be16(bytes, 12) == 0x0800);
  BOOST_TEST((bytes[kIp] == std::byte{0x45}));
  BOOST_TEST(be16(bytes, kIp + 2) == bytes.size() - kIp);
  BOOST_TEST(be16(bytes, kIp + 4) == 0x1234);
  BOOST_TEST(be16(bytes, kIp + 6) == 0x4000);
  BOOST_TEST(plain_checksum(std::span(bytes).subspan(kIp, 20)) == 0);
  BOOST_TEST(be16(bytes, kUdp4 + 2) == 4791);
  BOOST_TEST(be16(bytes, kUdp4 + 4) == bytes.size() - kUdp4);
  BOOST_TEST(be16(bytes, kUdp4 + 6) == 0);
}

BOOST_AUTO_TEST_CASE(ipv6_header_is_right) {
  const Bytes bytes = ipv6_send(101);
  BOOST_TEST(be16(bytes, 12) == 0x86DD);
  BOOST_TEST(be16(bytes, kIp) == 0x66AA);  // version 6, traffic class 0x6A, flow label 0xABCDE
  BOOST_TEST(be16(bytes, kIp + 2) == 0xBCDE);
  BOOST_TEST(be16(bytes, kIp + 4) == bytes.size() - kUdp6);
  BOOST_TEST((bytes[kIp + 6] == std::byte{17}));
  BOOST_TEST((bytes[kIp + 7] == std::byte{63}));
  BOOST_TEST(be16(bytes, kUdp6 + 4) == bytes.size() - kUdp6);
  BOOST_TEST(be16(bytes, kUdp6 + 6) == 0);
}

BOOST_AUTO_TEST_CASE(dont_fragment_is_kept) {
  NetworkHeaders network = ipv4_network();
  network.dont_fragment = false;
  check_round_trip(network, kSendOnly, 3);
  BOOST_TEST(be16(encoded(network, transport_for(kSendOnly), 3), kIp + 6) == 0);
}

BOOST_AUTO_TEST_CASE(ipv4_is_for_two_mapped_addresses_only) {
  NetworkHeaders network = ipv6_network();
  network.source = ipv4_network().source;
  BOOST_TEST(!uses_ipv4(network));
  check_round_trip(network, kSendOnly, 8);
  BOOST_TEST(be16(encoded(network, transport_for(kSendOnly), 8), 12) == 0x86DD);
}

BOOST_AUTO_TEST_CASE(udp_checksum_is_right_where_one_is_wanted) {
  for (std::size_t size : {0, 1, 2, 3, 4, 64, 1021}) {
    NetworkHeaders ipv4 = ipv4_network();
    NetworkHeaders ipv6 = ipv6_network();
    ipv4.udp_checksum = ipv6.udp_checksum = 1;
    const Bytes four = encoded(ipv4, transport_for(kSendOnly), size);
    const Bytes six = encoded(ipv6, transport_for(kSendOnly), size);
    BOOST_TEST(be16(four, kUdp4 + 6) == expected_udp_checksum(four, kUdp4));
    BOOST_TEST(be16(six, kUdp6 + 6) == expected_udp_checksum(six, kUdp6));
    BOOST_TEST(parse_copy(four) == ParseError::none);
    BOOST_TEST(parse_copy(six) == ParseError::none);
    // The ICRC takes the checksum field as ones, so it is the same with and without a checksum.
    Bytes without = four;
    set_be16(without, kUdp4 + 6, 0);
    BOOST_TEST(parse_copy(without) == ParseError::none);
  }
}

BOOST_AUTO_TEST_CASE(udp_checksum_that_sums_to_zero_is_sent_as_ones) {
  NetworkHeaders network = ipv4_network();
  network.udp_checksum = 1;
  // Both ICRC and checksum cover the source port, so every port gives another sum.
  bool seen = false;
  for (std::uint32_t port = 0; port < 0x10000 * 8 && !seen; ++port) {
    network.udp_source = static_cast<std::uint16_t>(port);
    TransportHeaders transport = transport_for(kSendOnly);
    transport.bth.psn = Psn(port >> 16);
    const Bytes bytes = encoded(network, transport, 5);
    BOOST_REQUIRE(be16(bytes, kUdp4 + 6) != 0);
    if (expected_udp_checksum(bytes, kUdp4) != 0) continue;
    seen = true;
    BOOST_TEST(be16(bytes, kUdp4 + 6) == 0xFFFF);
    BOOST_TEST(parse_copy(bytes) == ParseError::none);
  }
  BOOST_TEST(seen);
}

BOOST_AUTO_TEST_CASE(template_encodes_as_encode_does_again_and_again) {
  for (const NetworkHeaders& network : {ipv4_network(), ipv6_network()}) {
    const FrameTemplate from_template(network);
    for (std::size_t size : {4096, 0, 1, 1024, 33, 2, 3}) {
      for (Opcode opcode : {Opcode{0x04}, Opcode{0x0B}, Opcode{0x65}, Opcode{0xB3}, Opcode{0x11}}) {
        const Bytes payload = payload_of(traits(opcode).carries_payload ? size : 0);
        FrameStorage storage;
        const Bytes made = join(from_template.encode(transport_for(opcode), payload, storage));
        BOOST_TEST(made == encoded(network, transport_for(opcode), payload.size()));
        BOOST_TEST(parse_copy(made) == ParseError::none);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(stale_storage_does_not_show) {
  FrameStorage storage;
  std::memset(&storage, 0xEE, sizeof storage);
  const Bytes payload = payload_of(1);
  const Frame frame = encode(ipv4_network(), transport_for(kSendOnly), payload, storage);
  BOOST_TEST(join(frame) == ipv4_send(1));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::wire::test
