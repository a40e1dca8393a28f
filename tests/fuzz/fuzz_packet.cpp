// Any bytes as an Ethernet frame, as a packet of InfiniBand, and as a received datagram: parsing reads
// nothing behind them. A frame that is accepted, or refused only for its opcode, means the same after it is
// encoded again.
//
// Checksums would stop nearly every changed frame, so a refused frame is repaired once per checksum that
// refused it and parsed again.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "tests/fuzz/require.hpp"
#include "wire/byte_order.hpp"
#include "wire/datagram_frame.hpp"
#include "wire/frame.hpp"
#include "wire/icrc.hpp"
#include "wire/infiniband/local_route_header.hpp"
#include "wire/internet_checksum.hpp"
#include "wire/network_codec.hpp"

namespace {

using urnic::fuzz::require;
using urnic::wire::Frame;
using urnic::wire::FrameStorage;
using urnic::wire::LinkLayer;
using urnic::wire::ParsedFrame;
using urnic::wire::ParseError;

void repair_ipv4_checksum(std::span<std::byte> frame) {
  std::byte* const ip = frame.data() + urnic::wire::ethernet_header_size(frame.data());
  std::memset(ip + 10, 0, 2);
  urnic::wire::InternetSum sum;
  sum.add({ip, urnic::wire::kIpv4Bytes});
  const std::uint16_t checksum = sum.checksum();
  std::memcpy(ip + 10, &checksum, sizeof checksum);
}

void remove_udp_checksum(std::span<std::byte> frame, const ParsedFrame& parsed) {
  const std::size_t ip =
      urnic::wire::uses_ipv4(parsed.network) ? urnic::wire::kIpv4Bytes : urnic::wire::kIpv6Bytes;
  const std::size_t udp = urnic::wire::ethernet_header_size(frame.data()) + ip;
  std::memset(frame.data() + udp + urnic::wire::kUdpBytes - 2, 0, 2);
}

void repair_icrc(std::span<std::byte> frame, const ParsedFrame& parsed, LinkLayer link_layer) {
  const auto headers = static_cast<std::size_t>(parsed.payload.data() - frame.data());
  const auto trailer =
      frame.subspan(headers + parsed.payload.size(), parsed.transport.bth.pad + urnic::wire::kIcrcBytes);
  urnic::wire::pay_icrc({.headers = frame.first(headers),
                         .payload = parsed.payload,
                         .trailer = trailer,
                         .owed_icrc = trailer.data() + parsed.transport.bth.pad,
                         .link_layer = link_layer});
}

// Repairs what `error` complains of; false if it cannot be repaired.
bool repair(ParseError error, std::span<std::byte> frame, const ParsedFrame& parsed, LinkLayer link_layer) {
  switch (error) {
    case ParseError::bad_ip_checksum:
      repair_ipv4_checksum(frame);
      return true;
    case ParseError::bad_udp_checksum:
      remove_udp_checksum(frame, parsed);
      return true;
    case ParseError::bad_icrc:
      repair_icrc(frame, parsed, link_layer);
      return true;
    default:
      return false;
  }
}

void check_same_meaning(const ParsedFrame& first, const ParsedFrame& second) {
  // A pad that is not zero is not kept, so the UDP checksum over it may differ; but a checksum must not
  // appear or vanish.
  ParsedFrame expected = first;
  require((first.network.udp_checksum == 0) == (second.network.udp_checksum == 0),
          "UDP checksum came or went");
  expected.network.udp_checksum = second.network.udp_checksum;
  require(expected.network == second.network, "network headers changed");
  require(expected.transport == second.transport, "transport headers changed");
  require(first.payload.size() == second.payload.size(), "payload length changed");
  require(first.payload.empty() ||
              std::memcmp(first.payload.data(), second.payload.data(), first.payload.size()) == 0,
          "payload changed");
}

std::vector<std::byte> join(const Frame& frame) {
  std::vector<std::byte> bytes;
  for (auto piece : {frame.headers, frame.payload, frame.trailer}) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  }
  return bytes;
}

// `verdict`: the result of parsing, `none` or `unknown_opcode`.
void check_round_trip(const ParsedFrame& parsed, ParseError verdict) {
  FrameStorage storage;
  const Frame again = urnic::wire::encode(parsed.network, parsed.transport, parsed.payload, storage);
  ParsedFrame pieces;
  require(urnic::wire::parse(again, pieces) == verdict, "encoded frame is judged otherwise in pieces");
  check_same_meaning(parsed, pieces);
  const std::vector<std::byte> joined = join(again);
  ParsedFrame whole;
  const Frame one_piece{.headers = joined, .payload = {}, .trailer = {}, .link_layer = again.link_layer};
  require(urnic::wire::parse(one_piece, whole) == verdict, "encoded frame is judged otherwise");
  check_same_meaning(parsed, whole);
}

// The same bytes in three pieces, divided as the input says: refused or not, nothing is read outside of them.
void parse_in_pieces(std::span<const std::byte> bytes, LinkLayer link_layer) {
  if (bytes.size() < 2) return;
  const std::size_t first = std::to_integer<std::size_t>(bytes[0]) % bytes.size();
  const std::size_t second = std::to_integer<std::size_t>(bytes[1]) % (bytes.size() - first);
  const std::vector<std::byte> headers(bytes.begin(), bytes.begin() + static_cast<long>(first));
  const std::vector<std::byte> trailer(bytes.end() - static_cast<long>(second), bytes.end());
  const auto middle = bytes.subspan(first, bytes.size() - first - second);
  const std::vector<std::byte> payload(middle.begin(), middle.end());
  ParsedFrame parsed;
  static_cast<void>(urnic::wire::parse(
      Frame{.headers = headers, .payload = payload, .trailer = trailer, .link_layer = link_layer}, parsed));
}

// The same bytes as a datagram that a UDP socket has received: its frame is refused, or has the datagram as
// it came.
void receive_datagram(std::span<const std::byte> bytes, std::uint8_t first_of_address) {
  const std::vector<std::byte> datagram(bytes.begin(), bytes.end());
  urnic::wire::NetworkHeaders network;
  network.source.bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, first_of_address, first_of_address, 192, 0, 2, 1};
  network.destination = network.source;
  std::array<std::byte, urnic::wire::kMaxHeaderBytes> headers;
  Frame frame;
  if (urnic::wire::frame_of_datagram(network, datagram, headers, frame) != ParseError::none) return;
  require(frame.size() == urnic::wire::network_header_size(network) + datagram.size(), "bytes came or went");
  ParsedFrame parsed;
  const ParseError error = urnic::wire::parse(frame, parsed);
  const bool known = error == ParseError::none || error == ParseError::unknown_opcode;
  if (known) check_round_trip(parsed, error);
  require(known || error == ParseError::bad_icrc || error == ParseError::bad_length ||
              error == ParseError::bad_transport_version,
          "the frame of a datagram is refused for its network headers");
}

void check_frame(std::vector<std::byte> frame, LinkLayer link_layer) {
  parse_in_pieces(frame, link_layer);
  constexpr int kAttempts = 4;  // as given, then once for each of three checksums
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    ParsedFrame parsed;
    const ParseError error = urnic::wire::parse(
        Frame{.headers = frame, .payload = {}, .trailer = {}, .link_layer = link_layer}, parsed);
    if (error == ParseError::none || error == ParseError::unknown_opcode)
      return check_round_trip(parsed, error);
    if (!repair(error, frame, parsed, link_layer)) return;
  }
  require(false, "a repaired frame is still refused for its checksum");
}

// The length that an LRH must have would stop nearly every packet.
void repair_length(std::span<std::byte> packet) {
  constexpr std::size_t kWordsAt = 4;
  if (packet.size() < urnic::wire::infiniband::kLocalRouteBytes) return;
  urnic::wire::store_be16(packet.data() + kWordsAt, static_cast<std::uint16_t>(packet.size() / 4));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  std::vector<std::byte> frame(bytes.begin(), bytes.end());
  receive_datagram(bytes, 0xFF);
  receive_datagram(bytes, 0xFD);
  check_frame(frame, LinkLayer::ethernet);
  check_frame(frame, LinkLayer::infiniband);
  repair_length(frame);
  check_frame(frame, LinkLayer::infiniband);
  return 0;
}
