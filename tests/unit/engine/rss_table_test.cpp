// The Toeplitz hash: values that every maker of NICs agrees on, and which fields go into it.
#include "device_model/engine/steering/rss_table.hpp"

#include <boost/test/unit_test.hpp>

#include "tests/unit/engine/raw_frames.hpp"

namespace urnic::engine::test {
namespace {

// The key and the flows of Microsoft's "Verifying the RSS Hash Calculation".
constexpr ToeplitzKey kKey{0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3,
                           0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3,
                           0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa};
constexpr std::uint64_t kIpv4 = hash_source_ipv4 | hash_destination_ipv4;
constexpr std::uint64_t kIpv6 = hash_source_ipv6 | hash_destination_ipv6;
constexpr std::uint64_t kTcpPorts = hash_source_port_tcp | hash_destination_port_tcp;
constexpr std::uint64_t kUdpPorts = hash_source_port_udp | hash_destination_port_udp;

using Bytes4 = std::array<std::uint8_t, 4>;
using Bytes16 = std::array<std::uint8_t, 16>;

std::array<std::uint8_t, 2> port(std::uint16_t number) {
  return {static_cast<std::uint8_t>(number >> 8), static_cast<std::uint8_t>(number & 0xFF)};
}

FrameHeaders ipv4(const Bytes4& source, std::uint16_t source_port, const Bytes4& destination,
                  std::uint16_t destination_port, std::uint8_t transport = layer_tcp) {
  FrameHeaders headers;
  headers.layers = layer_ipv4 | transport;
  headers.fields.ipv4_source = source;
  headers.fields.ipv4_destination = destination;
  headers.fields.source_port = port(source_port);
  headers.fields.destination_port = port(destination_port);
  return headers;
}

FrameHeaders ipv6(const Bytes16& source, std::uint16_t source_port, const Bytes16& destination,
                  std::uint16_t destination_port) {
  FrameHeaders headers;
  headers.layers = layer_ipv6 | layer_tcp;
  headers.fields.ipv6_source = source;
  headers.fields.ipv6_destination = destination;
  headers.fields.source_port = port(source_port);
  headers.fields.destination_port = port(destination_port);
  return headers;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rss_table)

BOOST_AUTO_TEST_CASE(the_published_ipv4_values) {
  const struct {
    FrameHeaders frame;
    std::uint32_t with_ports;
    std::uint32_t addresses_only;
  } rows[] = {
      {ipv4({66, 9, 149, 187}, 2794, {161, 142, 100, 80}, 1766), 0x51ccc178, 0x323e8fc2},
      {ipv4({199, 92, 111, 2}, 14230, {65, 69, 140, 83}, 4739), 0xc626b0ea, 0xd718262a},
      {ipv4({24, 19, 198, 95}, 12898, {12, 22, 207, 184}, 38024), 0x5c2b394a, 0xd2d0a5de},
      {ipv4({38, 27, 205, 30}, 48228, {209, 142, 163, 6}, 2217), 0xafc7327f, 0x82989176},
      {ipv4({153, 39, 163, 191}, 44251, {202, 188, 127, 2}, 1303), 0x10e828a2, 0x5d1809c5},
  };
  for (const auto& row : rows) {
    BOOST_TEST(toeplitz_hash(kKey, kIpv4 | kTcpPorts, row.frame) == row.with_ports);
    BOOST_TEST(toeplitz_hash(kKey, kIpv4, row.frame) == row.addresses_only);
  }
}

BOOST_AUTO_TEST_CASE(the_published_ipv6_value) {
  const FrameHeaders frame =
      ipv6({0x3f, 0xfe, 0x25, 0x01, 0x02, 0x00, 0x1f, 0xff, 0, 0, 0, 0, 0, 0, 0, 7}, 2794,
           {0x3f, 0xfe, 0x25, 0x01, 0x02, 0x00, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1}, 1766);
  BOOST_TEST(toeplitz_hash(kKey, kIpv6 | kTcpPorts, frame) == 0x40207d3du);
  BOOST_TEST(toeplitz_hash(kKey, kIpv6, frame) == 0x2cc18cd5u);
}

// A field that is not asked for, or that a frame of this kind does not have, changes nothing.
BOOST_AUTO_TEST_CASE(only_the_fields_asked_for_count) {
  const FrameHeaders tcp = ipv4({1, 2, 3, 4}, 5, {6, 7, 8, 9}, 10);
  FrameHeaders udp = tcp;
  udp.layers = layer_ipv4 | layer_udp;
  BOOST_TEST(toeplitz_hash(kKey, kTcpPorts, tcp) != 0u);
  BOOST_TEST(toeplitz_hash(kKey, kTcpPorts, tcp) == toeplitz_hash(kKey, kUdpPorts, udp));
  BOOST_TEST(toeplitz_hash(kKey, kTcpPorts, udp) == 0u);
  BOOST_TEST(toeplitz_hash(kKey, kIpv6, tcp) == 0u);
  const std::pair<HashField, void (*)(FrameFields&)> rows[] = {
      {hash_source_ipv4, [](FrameFields& f) { f.ipv4_source[3] ^= 1; }},
      {hash_destination_ipv4, [](FrameFields& f) { f.ipv4_destination[0] ^= 1; }},
      {hash_source_port_tcp, [](FrameFields& f) { f.source_port[0] ^= 1; }},
      {hash_destination_port_tcp, [](FrameFields& f) { f.destination_port[1] ^= 1; }},
  };
  for (const auto& [changed, change] : rows) {
    FrameHeaders other = tcp;
    change(other.fields);
    for (const auto& [field, unused] : rows) {
      BOOST_TEST((toeplitz_hash(kKey, field, other) != toeplitz_hash(kKey, field, tcp)) ==
                 (field == changed));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_lowest_bits_choose_the_queue) {
  const auto queue = [](std::uintptr_t number) { return reinterpret_cast<QueuePairContext*>(number); };
  const RssTable rss_table(kKey, kIpv4, {queue(8), queue(16), queue(24), queue(32)});
  // 0x323e8fc2 and 0xd2d0a5de end in binary 10, 0x5d1809c5 in 01.
  BOOST_TEST(&rss_table.queue_for(rss_table.hash_of(ipv4({66, 9, 149, 187}, 0, {161, 142, 100, 80}, 0))) ==
             queue(24));
  BOOST_TEST(&rss_table.queue_for(rss_table.hash_of(ipv4({24, 19, 198, 95}, 0, {12, 22, 207, 184}, 0))) ==
             queue(24));
  BOOST_TEST(&rss_table.queue_for(rss_table.hash_of(ipv4({153, 39, 163, 191}, 0, {202, 188, 127, 2}, 0))) ==
             queue(16));
  BOOST_TEST(&rss_table.queue_for(rss_table.hash_of(FrameHeaders{})) == queue(8));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
