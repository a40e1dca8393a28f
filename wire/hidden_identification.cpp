#include "wire/hidden_identification.hpp"

#include <array>

#include "wire/frame.hpp"

namespace urnic::wire {
namespace {

// Residues of polynomials modulo CRC-32's, reflected: bit 31 is the coefficient of x^0.
using Residue = std::uint32_t;
constexpr Residue kPolynomial = 0xEDB88320;
constexpr Residue kOne = 0x80000000;

constexpr Residue times_x(Residue residue) { return (residue >> 1) ^ ((residue & 1) != 0 ? kPolynomial : 0); }
constexpr Residue divided_by_x(Residue residue) {
  return (residue & kOne) != 0 ? (residue ^ kPolynomial) << 1 | 1 : residue << 1;
}

// A RoCEv2 packet is a multiple of four bytes long (IBTA 9.2.3).
constexpr std::size_t kWordBytes = 4;
constexpr std::size_t kWords = (kMaxHeaderBytes + kMaxPayloadBytes) / kWordBytes + 1;

// By the number n of words: `step` taken 32 n times, from 1.
constexpr std::array<Residue, kWords> powers_of(Residue (*step)(Residue)) {
  std::array<Residue, kWords> powers{};
  Residue power = kOne;
  for (Residue& entry : powers) {
    entry = power;
    for (int bit = 0; bit < 32; ++bit) power = step(power);
  }
  return powers;
}
constexpr std::array<Residue, kWords> kForwards = powers_of(times_x);
constexpr std::array<Residue, kWords> kBackwards = powers_of(divided_by_x);

Residue multiply(Residue a, Residue b) {
  Residue product = 0;
  for (int bit = 31; bit >= 0; --bit) {
    product ^= b & (0 - (a >> bit & 1));
    b = times_x(b);
  }
  return product;
}

}  // namespace

// Running the CRC backwards over all covered bytes gives what was added to the register before the
// Identification's two bytes: these bytes, the first of them lowest, and nothing else.
std::optional<std::uint16_t> hidden_identification(std::uint32_t difference, std::size_t covered) {
  if (covered % kWordBytes != 0 || covered / kWordBytes >= kWords) return {};
  const Residue added = multiply(difference, kBackwards[covered / kWordBytes]);
  if (added >> 16 != 0) return {};
  return __builtin_bswap16(static_cast<std::uint16_t>(added));
}

std::uint32_t icrc_change(std::uint16_t identification, std::size_t covered) {
  return multiply(__builtin_bswap16(identification), kForwards[covered / kWordBytes]);
}

}  // namespace urnic::wire
