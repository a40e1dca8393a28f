// Where a device is on the PCI buses, as far as programs are told.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>

namespace urnic::control {

struct PciAddress {
  std::uint8_t slot = 0;      // 0 to 31
  std::uint8_t function = 0;  // 0 to 7
  friend auto operator<=>(const PciAddress&, const PciAddress&) = default;
};

// Of the device with this number, from 0 to 255, among those that are on the bus.
constexpr PciAddress pci_address(std::size_t number) {
  return {static_cast<std::uint8_t>(number % 32), static_cast<std::uint8_t>(number / 32)};
}

// DOMAIN:BUS:SLOT.FUNCTION. All are on one bus, of a domain that no machine has of its own accord.
std::string to_text(const PciAddress& address);

}  // namespace urnic::control
