// Datagrams of a vendor's classes 0x30 to 0x4F, which name the vendor (IBTA 16.5): ibping.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/mad/mad_header.hpp"

namespace urnic::wire::mad {

constexpr bool has_oui(ManagementClass management_class) {
  const auto value = static_cast<std::uint8_t>(management_class);
  return value >= 0x30 && value <= 0x4F;
}

// An organisation's number, 24 bits (IBTA 16.5).
struct Oui {
  std::uint32_t value = 0;
  friend constexpr auto operator<=>(Oui, Oui) = default;
};

// The one of ibping's datagrams.
inline constexpr Oui kOpenIbOui{0x001405};

struct VendorMad {
  MadHeader header;
  std::array<std::byte, 12> rmpp{};  // RMPP header (IBTA 13.6.2.1); all zero: one datagram is the message
  Oui oui;
  std::array<std::byte, 216> data{};  // ibping: 0, in the answer "host.domain" and a zero byte
  friend bool operator==(const VendorMad&, const VendorMad&) = default;
};

// Errors: wrong_size, wrong_base_version, wrong_class (none of 0x30 to 0x4F). Version, method and attribute
// are for the caller to judge. `vendor` is written only if there is no error.
MadError decode(std::span<const std::byte> mad, VendorMad& vendor);

Mad encode(const VendorMad& vendor);

}  // namespace urnic::wire::mad
