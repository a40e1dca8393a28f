#include "wire/datagram_frame.hpp"

#include <cstring>

#include "wire/byte_order.hpp"
#include "wire/hidden_identification.hpp"
#include "wire/icrc.hpp"
#include "wire/internet_checksum.hpp"
#include "wire/network_codec.hpp"
#include "wire/transport_codec.hpp"

namespace urnic::wire {
namespace {

constexpr std::size_t kIdentificationAt = 4;  // in the IPv4 header

// Divides `datagram`; the frame's headers are only the transport's.
ParseError divide(std::span<const std::byte> datagram, Frame& frame) {
  if (datagram.size() < kBthBytes + kIcrcBytes) return ParseError::truncated;
  Bth bth;
  parse_bth(datagram.data(), bth);
  const std::size_t header_bytes = transport_header_size(bth.opcode);
  if (datagram.size() < header_bytes + kIcrcBytes) return ParseError::truncated;
  const std::size_t padded = datagram.size() - header_bytes - kIcrcBytes;
  if (padded % 4 != 0 || bth.pad > padded) return ParseError::bad_pad;
  if (padded - bth.pad > kMaxPayloadBytes) return ParseError::bad_length;
  frame.headers = datagram.first(header_bytes);
  frame.payload = datagram.subspan(header_bytes, padded - bth.pad);
  frame.trailer = datagram.subspan(header_bytes + padded - bth.pad);
  return ParseError::none;
}

// For an IPv4 frame whose headers begin at `ip`, with a likely Identification in them.
void find_identification(const Frame& frame, std::byte* ip) {
  const std::size_t pad = frame.trailer.size() - kIcrcBytes;
  const std::uint32_t received = __builtin_bswap32(load_be32(frame.trailer.data() + pad));
  const std::uint32_t difference = received ^ icrc(frame.headers, frame.payload, frame.trailer.first(pad));
  if (difference == 0) return;
  const std::size_t covered = frame.size() - kEthernetBytes - kIdentificationAt - kIcrcBytes;
  const auto found = hidden_identification(difference, covered);
  std::byte* const at = ip + kIdentificationAt;
  store_be16(at, found ? static_cast<std::uint16_t>(*found ^ load_be16(at)) : 0);
}

}  // namespace

ParseError frame_of_datagram(const NetworkHeaders& network, std::span<const std::byte> datagram,
                             std::array<std::byte, kMaxHeaderBytes>& storage, Frame& frame) {
  if (const ParseError error = divide(datagram, frame); error != ParseError::none) return error;
  encode_network(network, storage.data());
  const std::size_t network_bytes = network_header_size(network);
  std::memcpy(storage.data() + network_bytes, frame.headers.data(), frame.headers.size());
  frame.headers = {storage.data(), network_bytes + frame.headers.size()};

  std::byte* const ip = storage.data() + kEthernetBytes;
  const auto udp_bytes = static_cast<std::uint16_t>(kUdpBytes + datagram.size());
  store_be16(storage.data() + network_bytes - kUdpBytes + 4, udp_bytes);
  if (!uses_ipv4(network)) {
    store_be16(ip + 4, udp_bytes);
    return ParseError::none;
  }
  store_be16(ip + 2, static_cast<std::uint16_t>(kIpv4Bytes + udp_bytes));
  find_identification(frame, ip);
  InternetSum sum;
  sum.add({ip, kIpv4Bytes});
  const std::uint16_t checksum = sum.checksum();
  std::memcpy(ip + 10, &checksum, sizeof checksum);
  return ParseError::none;
}

}  // namespace urnic::wire
