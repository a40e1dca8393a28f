#include "wire/transport_codec.hpp"

#include <array>
#include <cstring>

#include "wire/byte_order.hpp"

namespace urnic::wire {
namespace {

constexpr std::uint32_t kLow24 = 0xFFFFFF;

// Bytes of extended headers for every set of HeaderBit values.
constexpr std::array<std::uint8_t, 512> make_extended_sizes() {
  // In the order of HeaderBit.
  constexpr std::array<std::uint8_t, 9> kSizes{8, 4, 16, 28, 4, 8, 4, 4, 12};
  std::array<std::uint8_t, 512> sums{};
  for (std::size_t bits = 0; bits < sums.size(); ++bits) {
    for (std::size_t bit = 0; bit < kSizes.size(); ++bit) {
      if (bits & (std::size_t{1} << bit)) sums[bits] = static_cast<std::uint8_t>(sums[bits] + kSizes[bit]);
    }
  }
  return sums;
}

constexpr std::array<std::uint8_t, 512> kExtendedSizes = make_extended_sizes();

// Four bytes as BTH, DETH, XRCETH and AETH have them: a field of one byte, then a 24-bit number.
std::uint32_t byte_and_24(std::uint8_t high, std::uint32_t low) {
  return static_cast<std::uint32_t>(high) << 24 | (low & kLow24);
}

void encode_bth(const Bth& bth, std::uint8_t pad, std::byte* to) {
  to[0] = std::byte{bth.opcode.value};
  to[1] = static_cast<std::byte>((bth.solicited ? 0x80 : 0) | (bth.migration ? 0x40 : 0) | (pad & 3) << 4 |
                                 (bth.version & 0x0F));
  store_be16(to + 2, bth.pkey.value);
  const auto congestion =
      static_cast<std::uint8_t>((bth.fecn ? 0x80 : 0) | (bth.becn ? 0x40 : 0) | (bth.reserved6 & 0x3F));
  store_be32(to + 4, byte_and_24(congestion, bth.destination.value));
  const auto request = static_cast<std::uint8_t>((bth.ack_request ? 0x80 : 0) | (bth.reserved7 & 0x7F));
  store_be32(to + 8, byte_and_24(request, bth.psn.value()));
}

std::byte* encode_atomic(const AtomicEth& atomic, std::byte* to) {
  store_be64(to, atomic.virtual_address);
  store_be32(to + 8, atomic.rkey.value);
  store_be64(to + 12, atomic.swap_or_add);
  store_be64(to + 20, atomic.compare);
  return to + 28;
}

std::byte* encode_reth(const Reth& reth, std::byte* to) {
  store_be64(to, reth.virtual_address);
  store_be32(to + 8, reth.rkey.value);
  store_be32(to + 12, reth.dma_length);
  return to + 16;
}

void encode_selective_ack(const SelectiveAckEth& selective_ack, std::byte* to) {
  store_be32(to, byte_and_24(selective_ack.reserved, selective_ack.latest.value()));
  store_be64(to + 4, selective_ack.earlier);
}

void parse_selective_ack(const std::byte* from, SelectiveAckEth& selective_ack) {
  selective_ack.reserved = std::to_integer<std::uint8_t>(from[0]);
  selective_ack.latest = Psn{load_be32(from)};
  selective_ack.earlier = load_be64(from + 4);
}

const std::byte* parse_atomic(const std::byte* from, AtomicEth& atomic) {
  atomic.virtual_address = load_be64(from);
  atomic.rkey.value = load_be32(from + 8);
  atomic.swap_or_add = load_be64(from + 12);
  atomic.compare = load_be64(from + 20);
  return from + 28;
}

const std::byte* parse_reth(const std::byte* from, Reth& reth) {
  reth.virtual_address = load_be64(from);
  reth.rkey.value = load_be32(from + 8);
  reth.dma_length = load_be32(from + 12);
  return from + 16;
}

}  // namespace

std::size_t transport_header_size(Opcode opcode) {
  return kBthBytes + kExtendedSizes[traits(opcode).headers];
}

void encode_transport(const TransportHeaders& headers, std::uint8_t pad, std::byte* to) {
  encode_bth(headers.bth, pad, to);
  to += kBthBytes;
  const std::uint16_t present = traits(headers.bth.opcode).headers;
  if (present & has_deth) {
    store_be32(to, headers.deth.qkey);
    store_be32(to + 4, byte_and_24(headers.deth.reserved, headers.deth.source.value));
    to += 8;
  }
  if (present & has_xrceth) {
    store_be32(to, byte_and_24(headers.xrceth.reserved, headers.xrceth.srq_number));
    to += 4;
  }
  if (present & has_reth) to = encode_reth(headers.reth, to);
  if (present & has_atomic_eth) to = encode_atomic(headers.atomic_eth, to);
  if (present & has_aeth) {
    store_be32(to, byte_and_24(headers.aeth.syndrome, headers.aeth.msn.value));
    to += 4;
  }
  if (present & has_atomic_ack_eth) {
    store_be64(to, headers.atomic_original);
    to += 8;
  }
  if (present & has_immediate) {
    std::memcpy(to, headers.immediate.bytes.data(), headers.immediate.bytes.size());
    to += 4;
  }
  if (present & has_ieth) store_be32(to, headers.invalidate.value);
  if (present & has_selective_ack) encode_selective_ack(headers.selective_ack_eth, to);
}

void parse_bth(const std::byte* from, Bth& bth) {
  bth.opcode = Opcode{std::to_integer<std::uint8_t>(from[0])};
  const auto flags = std::to_integer<std::uint8_t>(from[1]);
  bth.solicited = (flags & 0x80) != 0;
  bth.migration = (flags & 0x40) != 0;
  bth.pad = (flags >> 4) & 3;
  bth.version = flags & 0x0F;
  bth.pkey.value = load_be16(from + 2);
  const std::uint32_t destination = load_be32(from + 4);
  bth.fecn = (destination & 0x80000000) != 0;
  bth.becn = (destination & 0x40000000) != 0;
  bth.reserved6 = (destination >> 24) & 0x3F;
  bth.destination.value = destination & kLow24;
  const std::uint32_t sequence = load_be32(from + 8);
  bth.ack_request = (sequence & 0x80000000) != 0;
  bth.reserved7 = (sequence >> 24) & 0x7F;
  bth.psn = Psn{sequence};
}

void parse_extended(const std::byte* from, TransportHeaders& headers) {
  const std::uint16_t present = traits(headers.bth.opcode).headers;
  if (present & has_deth) {
    headers.deth.qkey = load_be32(from);
    headers.deth.reserved = std::to_integer<std::uint8_t>(from[4]);
    headers.deth.source.value = load_be32(from + 4) & kLow24;
    from += 8;
  }
  if (present & has_xrceth) {
    headers.xrceth.reserved = std::to_integer<std::uint8_t>(from[0]);
    headers.xrceth.srq_number = load_be32(from) & kLow24;
    from += 4;
  }
  if (present & has_reth) from = parse_reth(from, headers.reth);
  if (present & has_atomic_eth) from = parse_atomic(from, headers.atomic_eth);
  if (present & has_aeth) {
    headers.aeth.syndrome = std::to_integer<std::uint8_t>(from[0]);
    headers.aeth.msn.value = load_be32(from) & kLow24;
    from += 4;
  }
  if (present & has_atomic_ack_eth) {
    headers.atomic_original = load_be64(from);
    from += 8;
  }
  if (present & has_immediate) {
    std::memcpy(headers.immediate.bytes.data(), from, headers.immediate.bytes.size());
    from += 4;
  }
  if (present & has_ieth) headers.invalidate.value = load_be32(from);
  if (present & has_selective_ack) parse_selective_ack(from, headers.selective_ack_eth);
}

}  // namespace urnic::wire
