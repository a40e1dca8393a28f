// Frames to start a test from, and the repairs that let a changed frame reach the check under test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>
#include <vector>

#include "wire/aeth.hpp"
#include "wire/frame.hpp"
#include "wire/internet_checksum.hpp"

namespace urnic::wire {

// Lets Boost.Test print what a parse returned.
inline std::ostream& operator<<(std::ostream& out, ParseError error) { return out << describe(error); }

}  // namespace urnic::wire

namespace urnic::wire::test {

using Bytes = std::vector<std::byte>;

// Offsets in an IPv4 frame, then in an IPv6 frame.
inline constexpr std::size_t kIp = 14;
inline constexpr std::size_t kUdp4 = 34;
inline constexpr std::size_t kBth4 = 42;
inline constexpr std::size_t kUdp6 = 54;
inline constexpr std::size_t kBth6 = 62;

inline NetworkHeaders ipv4_network() {
  NetworkHeaders network;
  network.destination_mac.bytes = {0x02, 0, 0, 0, 0, 0x0A};
  network.source_mac.bytes = {0x02, 0, 0, 0, 0, 0x0B};
  network.destination.bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, 1};
  network.source.bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, 2};
  network.traffic_class = 0x6A;
  network.hop_limit = 63;
  network.ip_identification = 0x1234;
  network.udp_source = 0xC123;
  return network;
}

inline NetworkHeaders ipv6_network() {
  NetworkHeaders network = ipv4_network();
  network.destination.bytes = {0xFE, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFE, 0, 0, 1};
  network.source.bytes = {0xFE, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFE, 0, 0, 2};
  network.flow_label = 0xABCDE;
  network.ip_identification = 0;
  return network;
}

// A value of its own for every member that any opcode uses.
inline TransportHeaders transport_for(Opcode opcode) {
  TransportHeaders headers;
  headers.bth = {.opcode = opcode,
                 .solicited = true,
                 .migration = false,
                 .pkey = Pkey{0x8001},
                 .fecn = true,
                 .becn = false,
                 .reserved6 = 0x2D,
                 .destination = Qpn{0xABCDEF},
                 .ack_request = true,
                 .reserved7 = 0x6A,
                 .psn = Psn{0x987654}};
  headers.deth = {.qkey = 0x80010000, .reserved = 0x5A, .source = Qpn{0x123456}};
  headers.xrceth = {.reserved = 0xA5, .srq_number = 0x654321};
  headers.reth = {.virtual_address = 0x1122334455667788, .rkey = Rkey{0x99AABBCC}, .dma_length = 0xDDEEFF00};
  headers.atomic_eth = {.virtual_address = 0x8877665544332211,
                        .rkey = Rkey{0xCCBBAA99},
                        .swap_or_add = 0x0102030405060708,
                        .compare = 0x1112131415161718};
  headers.aeth = {.syndrome = 0x1F, .msn = Msn{0x313233}};
  headers.atomic_original = 0x4142434445464748;
  headers.immediate.bytes = {0x51, 0x52, 0x53, 0x54};
  headers.invalidate = Rkey{0x61626364};
  headers.selective_ack_eth = {.reserved = 0x71, .latest = Psn{0x727374}, .earlier = 0x8182838485868788};
  return headers;
}

inline TransportHeaders selective_nak() {
  TransportHeaders headers = transport_for(kSelectiveAcknowledge);
  headers.aeth.syndrome = nak_syndrome(NakCode::psn_sequence_error);
  return headers;
}

inline Bytes payload_of(std::size_t size) {
  Bytes payload(size);
  for (std::size_t at = 0; at < size; ++at) payload[at] = static_cast<std::byte>(at * 7 + 1);
  return payload;
}

inline Bytes join(const Frame& frame) {
  Bytes bytes;
  for (auto piece : {frame.headers, frame.payload, frame.trailer}) {
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  }
  return bytes;
}

inline Bytes encoded(const NetworkHeaders& network, const TransportHeaders& transport,
                     std::size_t payload_bytes) {
  FrameStorage storage;
  const Bytes payload = payload_of(payload_bytes);
  return join(encode(network, transport, payload, storage));
}

// An RC SEND Only of `payload_bytes` bytes.
inline Bytes ipv4_send(std::size_t payload_bytes) {
  return encoded(ipv4_network(), transport_for(Opcode(Service::rc, Operation::send_only)), payload_bytes);
}
inline Bytes ipv6_send(std::size_t payload_bytes) {
  return encoded(ipv6_network(), transport_for(Opcode(Service::rc, Operation::send_only)), payload_bytes);
}

inline void set_be16(Bytes& bytes, std::size_t at, std::size_t value) {
  bytes[at] = static_cast<std::byte>(value >> 8);
  bytes[at + 1] = static_cast<std::byte>(value);
}

inline std::uint16_t be16(const Bytes& bytes, std::size_t at) {
  return static_cast<std::uint16_t>(std::to_integer<unsigned>(bytes[at]) << 8 |
                                    std::to_integer<unsigned>(bytes[at + 1]));
}

// The sum as RFC 1071 describes it, byte by byte, so that the production sum is not tested against itself.
inline std::uint16_t plain_checksum(std::span<const std::byte> bytes, std::uint32_t sum = 0) {
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    sum += std::to_integer<std::uint32_t>(bytes[at]) << (at % 2 == 0 ? 8 : 0);
    sum = (sum & 0xFFFF) + (sum >> 16);
  }
  return static_cast<std::uint16_t>(~sum);
}

inline void repair_ipv4_checksum(Bytes& bytes) {
  set_be16(bytes, kIp + 10, 0);
  set_be16(bytes, kIp + 10, plain_checksum(std::span(bytes).subspan(kIp, 20)));
}

// Sets the lengths in the IPv4 and UDP headers to those of the frame.
inline void repair_ipv4_lengths(Bytes& bytes) {
  set_be16(bytes, kIp + 2, bytes.size() - kIp);
  set_be16(bytes, kUdp4 + 4, bytes.size() - kUdp4);
  repair_ipv4_checksum(bytes);
}

// Parses an exact-size copy, so that a sanitizer sees a read behind its end.
inline ParseError parse_copy(std::span<const std::byte> bytes) {
  const Bytes copy(bytes.begin(), bytes.end());
  ParsedFrame parsed;
  return parse(std::span<const std::byte>(copy), parsed);
}

}  // namespace urnic::wire::test
