#include "wire/infiniband/variant_crc.hpp"

#include <algorithm>
#include <array>

#include "wire/byte_order.hpp"

namespace urnic::wire::infiniband {
namespace {

// x^16 + x^12 + x^3 + x + 1, with the bits of each byte in the order of the wire, the least significant
// first.
constexpr std::uint16_t kPolynomial = 0xD008;

constexpr std::array<std::uint16_t, 256> make_table() {
  std::array<std::uint16_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t value = byte;
    for (int bit = 0; bit < 8; ++bit) value = value >> 1 ^ ((value & 1) != 0 ? kPolynomial : 0);
    table[byte] = static_cast<std::uint16_t>(value);
  }
  return table;
}

constexpr auto kTable = make_table();

}  // namespace

std::uint16_t variant_crc(std::span<const std::byte> bytes) {
  std::uint32_t crc = 0xFFFF;
  for (const std::byte byte : bytes)
    crc = crc >> 8 ^ kTable[(crc ^ std::to_integer<std::uint32_t>(byte)) & 0xFF];
  return static_cast<std::uint16_t>(~crc);
}

void store_variant_crc(std::span<const std::byte> bytes, std::byte* to) {
  store_be16(to, __builtin_bswap16(variant_crc(bytes)));
}

void append_variant_crc(std::vector<std::byte>& packet) {
  const std::size_t covered = packet.size();
  packet.resize(covered + kVariantCrcBytes);
  store_variant_crc(std::span(packet).first(covered), packet.data() + covered);
}

bool has_right_variant_crc(std::span<const std::byte> packet) {
  if (packet.size() < kVariantCrcBytes) return false;
  std::array<std::byte, kVariantCrcBytes> right{};
  store_variant_crc(packet.first(packet.size() - right.size()), right.data());
  return std::equal(right.begin(), right.end(), packet.end() - right.size());
}

}  // namespace urnic::wire::infiniband
