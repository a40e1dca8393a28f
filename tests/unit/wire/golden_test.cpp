// Frames of another implementation (tests/golden): decoded, encoded again, and with every bit flipped.
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <map>
#include <vector>

#include "capture_file.hpp"
#include "sample_frames.hpp"
#include "wire/aeth.hpp"
#include "wire/frame.hpp"

namespace urnic::wire::test {
namespace {

const std::vector<Bytes>& golden_frames() {
  static const std::vector<Bytes> frames = read_capture(URNIC_GOLDEN_DIR "/soft-roce.pcap");
  return frames;
}

void flip(Bytes& bytes, std::size_t bit) { bytes[bit / 8] ^= static_cast<std::byte>(0x80 >> bit % 8); }

// The check that catches a flipped bit of an IPv4 frame, in the order of the checks.
ParseError expected_for_flip(std::size_t at) {
  if (at < 12) return ParseError::none;  // Ethernet addresses: checked by frame check sequence and port
  if (at < kIp) return ParseError::not_roce;
  if (at == kIp) return ParseError::not_roce;  // version and header length
  if (at < kUdp4) return ParseError::bad_ip_checksum;
  if (at == kUdp4 + 2 || at == kUdp4 + 3) return ParseError::not_roce;   // destination port
  if (at == kUdp4 + 4 || at == kUdp4 + 5) return ParseError::truncated;  // UDP length
  if (at == kUdp4 + 6 || at == kUdp4 + 7) return ParseError::bad_udp_checksum;
  if (at == kBth4 + 4) return ParseError::none;  // FECN, BECN and the reserved bits beside them
  return ParseError::bad_icrc;
}

// The BTH's first two bytes decide how the rest is read, so a flip there may be caught before the ICRC.
bool decides_the_layout(std::size_t at) { return at == kBth4 || at == kBth4 + 1; }

BOOST_AUTO_TEST_SUITE(golden_soft_roce)

BOOST_AUTO_TEST_CASE(every_frame_decodes_and_encodes_to_the_same_bytes) {
  BOOST_TEST(golden_frames().size() == 381u);
  for (std::size_t at = 0; at < golden_frames().size(); ++at) {
    const Bytes& bytes = golden_frames()[at];
    ParsedFrame parsed;
    BOOST_TEST_CONTEXT("frame " << at + 1) {
      BOOST_TEST(parse(std::span<const std::byte>(bytes), parsed) == ParseError::none);
      FrameStorage storage;
      const Frame again = encode(parsed.network, parsed.transport, parsed.payload, storage);
      BOOST_TEST(join(again) == bytes);
      ParsedFrame pieces;
      BOOST_TEST(parse(again, pieces) == ParseError::none);
      BOOST_TEST((pieces.transport == parsed.transport));
      BOOST_TEST((pieces.network == parsed.network));
    }
  }
}

BOOST_AUTO_TEST_CASE(opcodes_are_those_that_wireshark_counts) {
  const std::map<unsigned, unsigned> expected{{0, 22},  {1, 22},  {2, 22},   {4, 47},  {6, 5},   {7, 15},
                                              {8, 5},   {10, 13}, {12, 13},  {13, 5},  {14, 15}, {15, 5},
                                              {16, 8},  {17, 87}, {18, 10},  {19, 5},  {20, 5},  {32, 10},
                                              {33, 10}, {34, 10}, {100, 27}, {101, 20}};
  std::map<unsigned, unsigned> counted;
  for (const Bytes& bytes : golden_frames()) {
    ParsedFrame parsed;
    parse(std::span<const std::byte>(bytes), parsed);
    ++counted[parsed.transport.bth.opcode.value];
  }
  BOOST_TEST((counted == expected));
}

BOOST_AUTO_TEST_CASE(fields_are_those_that_wireshark_shows) {
  ParsedFrame write;
  const auto& frames = golden_frames();
  BOOST_TEST(parse(std::span<const std::byte>(frames[261]), write) == ParseError::none);
  BOOST_TEST(name(write.transport.bth.opcode) == "RC RDMA Write Only");
  BOOST_TEST(!write.transport.bth.solicited);
  BOOST_TEST(!write.transport.bth.migration);
  BOOST_TEST(int{write.transport.bth.pad} == 3);
  BOOST_TEST(write.transport.bth.pkey.value == 0xFFFF);
  BOOST_TEST(write.transport.bth.destination.value == 0x1Du);
  BOOST_TEST(write.transport.bth.ack_request);
  BOOST_TEST(write.transport.bth.psn.value() == 16058372u);
  BOOST_TEST(write.transport.reth.virtual_address == 0x562F82D5A000u);
  BOOST_TEST(write.transport.reth.rkey.value == 0xD95u);
  BOOST_TEST(write.transport.reth.dma_length == 33u);
  BOOST_TEST(write.payload.size() == 33u);
  BOOST_TEST(write.network.udp_source == 49993);
  BOOST_TEST(write.network.ip_identification == 0x873B);
  BOOST_TEST(write.network.dont_fragment);
  BOOST_TEST(int{write.network.hop_limit} == 64);

  ParsedFrame atomic;
  BOOST_TEST(parse(std::span<const std::byte>(frames[242]), atomic) == ParseError::none);
  BOOST_TEST(name(atomic.transport.bth.opcode) == "RC Atomic Acknowledge");
  BOOST_TEST((kind(atomic.transport.aeth.syndrome) == AethKind::ack));
  BOOST_TEST(int{code(atomic.transport.aeth.syndrome)} == 31);
  BOOST_TEST(atomic.transport.aeth.msn.value == 5u);
  BOOST_TEST(atomic.transport.atomic_original == 12630771138317296103u);
}

BOOST_AUTO_TEST_CASE(every_flipped_bit_is_caught_where_it_should_be) {
  std::size_t taken = 0;
  for (Bytes bytes : golden_frames()) {
    for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
      const std::size_t at = bit / 8;
      flip(bytes, bit);
      ParsedFrame parsed;
      const ParseError error = parse(std::span<const std::byte>(bytes), parsed);
      flip(bytes, bit);
      if (error == ParseError::none && at >= kIp) ++taken;
      const bool as_expected =
          decides_the_layout(at) ? error != ParseError::none : error == expected_for_flip(at);
      if (!as_expected) BOOST_ERROR("byte " << at << " bit " << bit % 8 << ": " << describe(error));
    }
  }
  BOOST_TEST(taken == golden_frames().size() * 8);
}

BOOST_AUTO_TEST_CASE(only_what_routers_change_is_free_under_a_repaired_ip_checksum) {
  // IBTA A17.3.3: type of service and time to live are masked, the rest of the IP header is not.
  for (const Bytes& golden : golden_frames()) {
    for (std::size_t bit = kIp * 8; bit < kUdp4 * 8; ++bit) {
      const std::size_t at = bit / 8;
      if (at == kIp + 10 || at == kIp + 11) continue;
      Bytes bytes = golden;
      flip(bytes, bit);
      repair_ipv4_checksum(bytes);
      const bool masked = at == kIp + 1 || at == kIp + 8;
      const ParseError error = parse_copy(bytes);
      if ((error == ParseError::none) != masked) {
        BOOST_ERROR("byte " << at << " bit " << bit % 8 << ": " << describe(error));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(only_what_routers_change_is_free_in_ipv6) {
  Bytes bytes = ipv6_send(33);
  for (std::size_t bit = kIp * 8; bit < bytes.size() * 8; ++bit) {
    const std::size_t at = bit / 8;
    flip(bytes, bit);
    const ParseError error = parse_copy(bytes);
    flip(bytes, bit);
    const bool masked =
        (at == kIp && bit % 8 >= 4) || (at > kIp && at < kIp + 4) || at == kIp + 7 || at == kBth6 + 4;
    BOOST_TEST_CONTEXT("byte " << at << " bit " << bit % 8) {
      BOOST_TEST((error == ParseError::none) == masked);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::wire::test
