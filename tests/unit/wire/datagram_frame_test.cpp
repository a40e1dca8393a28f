// Packets as a UDP socket delivers them, without their network headers: the frame is the sender's again, and
// damage is found although the Identification is unknown.
#include "wire/datagram_frame.hpp"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <random>

#include "capture_file.hpp"
#include "sample_frames.hpp"
#include "wire/hidden_identification.hpp"

namespace urnic::wire::test {
namespace {

constexpr Opcode kSend(Service::rc, Operation::send_only);

// A received datagram, with the storage of its frame.
struct Received {
  std::array<std::byte, kMaxHeaderBytes> storage{};
  Frame frame;
  ParseError error;

  Received(NetworkHeaders network, std::span<const std::byte> datagram) {
    network.ip_identification = 0;
    error = frame_of_datagram(network, datagram, storage, frame);
  }
  ParseError parsed() const {
    ParsedFrame ignored;
    return error != ParseError::none ? error : parse(frame, ignored);
  }
};

void require_same(const Bytes& sent, const NetworkHeaders& network, std::size_t network_bytes) {
  const Received received(network, std::span(sent).subspan(network_bytes));
  BOOST_REQUIRE(received.error == ParseError::none);
  BOOST_REQUIRE(join(received.frame) == sent);
  BOOST_REQUIRE(received.parsed() == ParseError::none);
}

BOOST_AUTO_TEST_SUITE(datagram_frame)

BOOST_AUTO_TEST_CASE(every_identification_is_found) {
  for (const std::size_t size : {0, 1, 64, 4096}) {
    NetworkHeaders network = ipv4_network();
    for (std::uint32_t identification = 0; identification <= 0xFFFF; ++identification) {
      network.ip_identification = static_cast<std::uint16_t>(identification);
      require_same(encoded(network, transport_for(kSend), size), network, kBth4);
    }
  }
}

BOOST_AUTO_TEST_CASE(every_opcode_and_size_over_both_kinds_of_ip) {
  for (unsigned byte = 0; byte < 256; ++byte) {
    const Opcode opcode{static_cast<std::uint8_t>(byte)};
    if (!traits(opcode).known) continue;
    for (const std::size_t size : {0, 1, 2, 3, 4, 5, 1023, 1024, 4095, 4096}) {
      if (size != 0 && !traits(opcode).carries_payload) continue;
      require_same(encoded(ipv4_network(), transport_for(opcode), size), ipv4_network(), kBth4);
      require_same(encoded(ipv6_network(), transport_for(opcode), size), ipv6_network(), kBth6);
    }
  }
}

BOOST_AUTO_TEST_CASE(frames_of_another_implementation) {
  for (Bytes frame : read_capture(URNIC_GOLDEN_DIR "/soft-roce.pcap")) {
    ParsedFrame parsed;
    BOOST_REQUIRE(parse(std::span<const std::byte>(frame), parsed) == ParseError::none);
    set_be16(frame, kUdp4 + 6, 0);
    require_same(frame, parsed.network, kBth4);
  }
}

BOOST_AUTO_TEST_CASE(the_change_of_an_icrc_is_that_of_its_identification) {
  for (const std::size_t covered : {36, 40, 1072, 4152})
    for (std::uint32_t identification = 0; identification <= 0xFFFF; ++identification) {
      const auto value = static_cast<std::uint16_t>(identification);
      BOOST_REQUIRE(hidden_identification(icrc_change(value, covered), covered) == value);
    }
}

// Whatever is damaged, the difference is as good as random: one of 2^16 is explained by an Identification.
BOOST_AUTO_TEST_CASE(random_damage_is_found_but_for_one_in_65536) {
  constexpr std::uint32_t kTrials = 1u << 22;
  std::mt19937 random(1);
  std::uint32_t unnoticed = 0;
  for (std::uint32_t i = 0; i < kTrials; ++i) {
    if (hidden_identification(static_cast<std::uint32_t>(random()), 4 * (random() % 1050))) ++unnoticed;
  }
  BOOST_TEST(unnoticed > 30u);  // 64 are expected
  BOOST_TEST(unnoticed < 110u);
}

BOOST_AUTO_TEST_CASE(flipped_bits_are_found) {
  std::uint32_t unnoticed = 0;
  std::uint32_t flips = 0;
  for (const std::size_t size : {0, 3, 200, 1024}) {
    Bytes datagram = ipv4_send(size);
    datagram.erase(datagram.begin(), datagram.begin() + kBth4);
    for (std::size_t bit = 0; bit < datagram.size() * 8; ++bit) {
      if (bit / 8 == 4) continue;  // FECN, BECN and the bits beside them are masked
      datagram[bit / 8] ^= static_cast<std::byte>(0x80 >> bit % 8);
      if (Received(ipv4_network(), datagram).parsed() == ParseError::none) ++unnoticed;
      datagram[bit / 8] ^= static_cast<std::byte>(0x80 >> bit % 8);
      ++flips;
    }
  }
  BOOST_TEST(flips > 9000u);
  BOOST_TEST(unnoticed <= 3u);
}

BOOST_AUTO_TEST_CASE(an_ipv6_packet_is_checked_whole) {
  Bytes datagram = ipv6_send(64);
  datagram.erase(datagram.begin(), datagram.begin() + kBth6);
  datagram[20] ^= std::byte{1};
  BOOST_TEST(Received(ipv6_network(), datagram).parsed() == ParseError::bad_icrc);
}

BOOST_AUTO_TEST_CASE(datagrams_of_any_length_are_refused_or_taken) {
  std::mt19937 random(2);
  for (std::size_t size = 0; size <= 9000; size += size < 200 ? 1 : 97) {
    for (unsigned opcode = 0; opcode < 256; ++opcode) {
      Bytes datagram(size);
      for (std::byte& byte : datagram) byte = static_cast<std::byte>(random());
      if (size != 0) datagram[0] = static_cast<std::byte>(opcode);
      const Received received(ipv4_network(), datagram);
      if (size < 16) BOOST_TEST(received.error == ParseError::truncated);
      if (size > 4096 + 60) BOOST_TEST(received.error != ParseError::none);
      received.parsed();
      if (size > 1000) opcode += 30;
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::wire::test
