#include "wire/icrc.hpp"

#include <isa-l/crc.h>

#include <algorithm>
#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "wire/ethernet.hpp"
#include "wire/frame.hpp"
#include "wire/network_codec.hpp"

namespace urnic::wire {
namespace {

// The CRC of the eight 0xFF bytes that stand in place of InfiniBand's local route header (IBTA A17.3.3), as a
// seed for crc32_gzip_refl. A test checks it against the bytes themselves.
constexpr std::uint32_t kPseudoHeaderCrc = 0x2144DF1C;

// Bits that count as ones in the ICRC (IBTA A17.3.3), for the headers from IP to BTH.
struct Mask {
  alignas(16) std::array<std::uint8_t, kMaxHeaderBytes> bytes{};
};

constexpr void mask_udp_and_bth(Mask& mask, std::size_t udp) {
  mask.bytes[udp + 6] = 0xFF;  // checksum
  mask.bytes[udp + 7] = 0xFF;
  mask.bytes[udp + kUdpBytes + 4] = 0xFF;  // FECN, BECN and the six reserved bits beside them
}

constexpr Mask make_ipv4_mask() {
  Mask mask;
  mask.bytes[1] = 0xFF;   // type of service
  mask.bytes[8] = 0xFF;   // time to live
  mask.bytes[10] = 0xFF;  // header checksum
  mask.bytes[11] = 0xFF;
  mask_udp_and_bth(mask, kIpv4Bytes);
  return mask;
}

constexpr Mask make_ipv6_mask() {
  Mask mask;
  mask.bytes[0] = 0x0F;  // traffic class, upper four bits
  mask.bytes[1] = 0xFF;  // traffic class, lower four bits; flow label, from here to byte 3
  mask.bytes[2] = 0xFF;
  mask.bytes[3] = 0xFF;
  mask.bytes[7] = 0xFF;  // hop limit
  mask_udp_and_bth(mask, kIpv6Bytes);
  return mask;
}

constexpr Mask kIpv4Mask = make_ipv4_mask();
constexpr Mask kIpv6Mask = make_ipv6_mask();

// Copies whole 16-byte blocks, the last one overlapping the one before, because the CRC reads such blocks: a
// load that gathers several narrower stores stalls, and so does a string copy.
void copy_masked(const std::byte* from, std::size_t bytes, const Mask& mask, std::byte* to) {
  using Block = std::uint64_t __attribute__((vector_size(16)));
  const auto copy_block = [&](std::size_t at) {
    Block block;
    Block ones;
    std::memcpy(&block, from + at, sizeof block);
    std::memcpy(&ones, mask.bytes.data() + at, sizeof ones);
    block |= ones;
    std::memcpy(to + at, &block, sizeof block);
  };
  std::size_t at = 0;
  for (; at + sizeof(Block) <= bytes; at += sizeof(Block)) copy_block(at);
  if (at != bytes) copy_block(bytes - sizeof(Block));
}

// ISA-L inverts the CRC on entry and on return, as gzip does. So the CRC of one piece is the seed of the
// next.
std::uint32_t add(std::uint32_t crc, const std::byte* bytes, std::size_t size) {
  return size == 0 ? crc : crc32_gzip_refl(crc, reinterpret_cast<const unsigned char*>(bytes), size);
}

// ISA-L 2.30 returns with the upper halves of the vector registers in use, which slows its callers' SSE
// instructions: encoding a small packet took 200 ns, and takes 40 ns with the halves cleared here.
#if defined(__x86_64__)
__attribute__((target("avx"))) void clear_upper_halves() { _mm256_zeroupper(); }

const bool has_avx = __builtin_cpu_supports("avx");

void leave_vector_code() {
  if (has_avx) clear_upper_halves();
}
#else
void leave_vector_code() {}
#endif

}  // namespace

std::uint32_t icrc(std::span<const std::byte> headers, std::span<const std::byte> payload,
                   std::span<const std::byte> pad) {
  alignas(16) std::array<std::byte, kMaxHeaderBytes> masked;
  const std::size_t ethernet_bytes = ethernet_header_size(headers.data());
  const std::byte* const ip = headers.data() + ethernet_bytes;
  const std::size_t bytes = std::min(headers.size(), kMaxHeaderBytes) - ethernet_bytes;
  const bool ipv4 = (*ip & std::byte{0xF0}) == std::byte{0x40};
  copy_masked(ip, bytes, ipv4 ? kIpv4Mask : kIpv6Mask, masked.data());

  std::uint32_t crc = add(kPseudoHeaderCrc, masked.data(), bytes);
  crc = add(crc, payload.data(), payload.size());
  crc = add(crc, pad.data(), pad.size());
  leave_vector_code();
  return crc;
}

std::uint32_t crc32(std::span<const std::byte> bytes) { return crc32(0, bytes); }

std::uint32_t crc32(std::uint32_t crc, std::span<const std::byte> bytes) {
  const std::uint32_t longer = add(crc, bytes.data(), bytes.size());
  leave_vector_code();
  return longer;
}

}  // namespace urnic::wire
