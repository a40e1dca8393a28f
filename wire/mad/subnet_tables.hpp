// The attributes of subnet management that are blocks of a table, and what their modifiers mean
// (IBTA 14.2.5). Node descriptions are bytes: SmpData as it is. So are LinearForwarding (a port for each LID
// of a block), SLtoVL (two SLs in a byte) and VLArbitration (pairs of VL and weight).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "wire/byte_order.hpp"
#include "wire/mad/identifiers.hpp"
#include "wire/mad/smp.hpp"

namespace urnic::wire::mad {

inline constexpr std::size_t kGuidsOfBlock = 8;
inline constexpr std::size_t kPkeysOfBlock = 32;
inline constexpr std::size_t kLidsOfBlock = 64;      // LinearForwarding
inline constexpr std::size_t kGroupsOfBlock = 32;    // MulticastForwarding
inline constexpr std::size_t kPortsOfPosition = 16;  // MulticastForwarding
inline constexpr std::size_t kSlToVlBytes = 8;       // 16 SLs
inline constexpr std::uint8_t kNoRoute = 255;        // LinearForwarding
inline constexpr std::uint16_t kFirstMulticastLid = 0xC000;
inline constexpr std::uint16_t kDefaultPkey = 0xFFFF;

using GuidBlock = std::array<Guid, kGuidsOfBlock>;
using PkeyBlock = std::array<std::uint16_t, kPkeysOfBlock>;
// For each group the mask of 16 ports.
using PortMaskBlock = std::array<std::uint16_t, kGroupsOfBlock>;

inline SmpData encode_block(const GuidBlock& guids) {
  SmpData data{};
  for (std::size_t i = 0; i < guids.size(); ++i) store_be64(&data[8 * i], guids[i].value);
  return data;
}

// PkeyBlock or PortMaskBlock.
inline SmpData encode_block(const std::array<std::uint16_t, 32>& values) {
  SmpData data{};
  for (std::size_t i = 0; i < values.size(); ++i) store_be16(&data[2 * i], values[i]);
  return data;
}

inline GuidBlock decode_guids(const SmpData& data) {
  GuidBlock guids;
  for (std::size_t i = 0; i < guids.size(); ++i) guids[i].value = load_be64(&data[8 * i]);
  return guids;
}

inline std::array<std::uint16_t, 32> decode_words(const SmpData& data) {
  std::array<std::uint16_t, 32> values{};
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = load_be16(&data[2 * i]);
  return values;
}

// PortInfo's modifier: bit 31 says that the manager knows extended speeds.
constexpr std::uint32_t port_of_port_info(std::uint32_t modifier) { return modifier & 0x7FFF'FFFF; }

// P_KeyTable's modifier; the port is a switch's.
constexpr std::uint32_t block_of_pkeys(std::uint32_t modifier) { return modifier & 0xFFFF; }
constexpr std::uint32_t port_of_pkeys(std::uint32_t modifier) { return modifier >> 16; }

// SLtoVL's modifier: of a switch.
constexpr std::uint32_t output_of_sl_to_vl(std::uint32_t modifier) { return modifier & 0xFF; }
constexpr std::uint32_t input_of_sl_to_vl(std::uint32_t modifier) { return modifier >> 8 & 0xFF; }

// VLArbitration's modifier: 1 and 2 are the halves of the low table, 3 and 4 those of the high one.
constexpr std::uint32_t part_of_arbitration(std::uint32_t modifier) { return modifier >> 16; }
constexpr std::uint32_t port_of_arbitration(std::uint32_t modifier) { return modifier & 0xFFFF; }

// MulticastForwarding's modifier.
constexpr std::uint32_t block_of_groups(std::uint32_t modifier) { return modifier & 0x1FF; }
constexpr std::uint32_t position_of_groups(std::uint32_t modifier) { return modifier >> 28; }

}  // namespace urnic::wire::mad
