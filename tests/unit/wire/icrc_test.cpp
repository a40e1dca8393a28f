#include "wire/icrc.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>

#include "sample_frames.hpp"

namespace urnic::wire::test {
namespace {

// CRC-32 of IEEE 802.3, bit by bit, which IBTA 7.8.1 adopts.
std::uint32_t plain_crc32(const Bytes& bytes) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (std::byte byte : bytes) {
    crc ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (crc & 1 ? 0xEDB88320 : 0);
  }
  return ~crc;
}

// IBTA A17.3.3 word for word: eight bytes of ones, then the packet from IP to the last pad byte, masked.
std::uint32_t plain_icrc(const Bytes& frame, bool ipv4) {
  Bytes covered(8 + frame.size() - kIp - 4, std::byte{0xFF});
  std::copy(frame.begin() + kIp, frame.end() - 4, covered.begin() + 8);
  const auto ones = [&](std::size_t at) { covered[8 + at] = std::byte{0xFF}; };
  if (ipv4) {
    for (std::size_t at : {1, 8, 10, 11}) ones(at);                // TOS, TTL, checksum
    for (std::size_t at : {20 + 6, 20 + 7, 20 + 8 + 4}) ones(at);  // UDP checksum, resv8a
  } else {
    covered[8] |= std::byte{0x0F};                 // traffic class, high half
    for (std::size_t at : {1, 2, 3, 7}) ones(at);  // traffic class, flow label, hop limit
    for (std::size_t at : {40 + 6, 40 + 7, 40 + 8 + 4}) ones(at);
  }
  return plain_crc32(covered);
}

// Least significant byte first (IBTA 7.8.1).
std::uint32_t sent_icrc(const Bytes& frame) {
  std::uint32_t crc = 0;
  for (std::size_t at = 0; at < 4; ++at) {
    crc |= std::to_integer<std::uint32_t>(frame[frame.size() - 4 + at]) << (8 * at);
  }
  return crc;
}

// Frame 243 of the golden capture, an RC Atomic Acknowledge, with the other implementation's ICRC.
constexpr unsigned char kKnownFrame[] = {
    0x52, 0x54, 0x00, 0x00, 0x00, 0x0b, 0x52, 0x54, 0x00, 0x00, 0x00, 0x0a, 0x08, 0x00,
    0x45, 0x00, 0x00, 0x38, 0x18, 0x44, 0x40, 0x00, 0x40, 0x11, 0x0e, 0x6f, 0x0a, 0x00,
    0x00, 0x01, 0x0a, 0x00, 0x00, 0x02, 0xc3, 0x10, 0x12, 0xb7, 0x00, 0x24, 0x00, 0x00,
    0x12, 0x00, 0xff, 0xff, 0x00, 0x00, 0x00, 0x1c, 0x00, 0x50, 0xef, 0xf3, 0x1f, 0x00,
    0x00, 0x05, 0xaf, 0x49, 0x83, 0x6d, 0xfa, 0xa8, 0xa1, 0xe7, 0x5e, 0x7a, 0xfb, 0x9c};

BOOST_AUTO_TEST_SUITE(invariant_crc)

BOOST_AUTO_TEST_CASE(reference_gives_the_check_value_of_crc_32) {
  Bytes digits;
  for (char digit = '1'; digit <= '9'; ++digit) digits.push_back(static_cast<std::byte>(digit));
  BOOST_TEST(plain_crc32(digits) == 0xCBF43926u);
}

BOOST_AUTO_TEST_CASE(known_vector) {
  const auto frame = std::as_bytes(std::span(kKnownFrame));
  BOOST_TEST(icrc(frame.first(frame.size() - 4), {}, {}) == 0x9CFB7A5Eu);
}

BOOST_AUTO_TEST_CASE(agrees_with_the_bitwise_crc_for_every_opcode_and_size) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    const Opcode opcode{static_cast<std::uint8_t>(byte)};
    for (std::size_t size : {0, 1, 2, 3, 4, 5, 15, 16, 17, 31, 33, 63, 65, 127, 256, 1024, 4095, 4096}) {
      if (size > 65 && byte % 16 != 0) continue;
      const Bytes ipv4 = encoded(ipv4_network(), transport_for(opcode), size);
      const Bytes ipv6 = encoded(ipv6_network(), transport_for(opcode), size);
      BOOST_TEST_CONTEXT("opcode " << byte << ", payload " << size) {
        BOOST_TEST(sent_icrc(ipv4) == plain_icrc(ipv4, true));
        BOOST_TEST(sent_icrc(ipv6) == plain_icrc(ipv6, false));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(does_not_depend_on_where_the_pieces_divide) {
  const Bytes frame = ipv4_send(1001);
  const std::span<const std::byte> bytes(frame);
  const std::size_t headers = kBth4 + 12;
  for (std::size_t cut = headers; cut <= frame.size() - 4; ++cut) {
    const auto crc = icrc(bytes.first(headers), bytes.subspan(headers, cut - headers),
                          bytes.subspan(cut, frame.size() - 4 - cut));
    BOOST_TEST(crc == sent_icrc(frame));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::wire::test
