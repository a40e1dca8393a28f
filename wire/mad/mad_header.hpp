// A management datagram and the header that all of them have (IBTA 13.4.2, 13.4.3).
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/mad/identifiers.hpp"
#include "wire/mad/mad_error.hpp"

namespace urnic::wire::mad {

inline constexpr std::size_t kMadBytes = 256;
inline constexpr std::size_t kMadHeaderBytes = 24;
inline constexpr std::uint8_t kBaseVersion = 1;

// A datagram as it lies in the payload of a UD SEND Only to QP1.
using Mad = std::array<std::byte, kMadBytes>;

// IBTA 13.4.4. Values that have no name here occur, too.
enum class ManagementClass : std::uint8_t {
  subnet_lid_routed = 0x01,
  subnet_administration = 0x03,
  performance = 0x04,
  communication = 0x07,
  openib_ping = 0x32,  // a vendor's class, with an OUI: ibping
  subnet_directed_route = 0x81,
};

// IBTA 13.4.5. Bit 7 marks a response.
enum class Method : std::uint8_t {
  get = 0x01,
  set = 0x02,
  send = 0x03,
  trap = 0x05,
  report = 0x06,
  trap_repress = 0x07,
  delete_record = 0x15,  // of subnet administration (IBTA 15.2.2)
  get_response = 0x81,
  report_response = 0x86,
};

constexpr bool is_response(Method method) { return (static_cast<std::uint8_t>(method) & 0x80) != 0; }

// The status' low byte, which means the same in all classes (IBTA 13.4.7). Bits 0 and 1 are flags, bits 2 to
// 4 a code.
enum class MadStatus : std::uint16_t {
  ok = 0,
  busy = 0x0001,
  redirection_required = 0x0002,
  unsupported_version = 0x0004,
  unsupported_method = 0x0008,
  unsupported_method_and_attribute = 0x000C,
  invalid_field = 0x001C,
};

// Attributes are numbers of their class (IBTA 13.4.8): CmAttribute, PerformanceAttribute.
struct AttributeId {
  std::uint16_t value = 0;
  friend constexpr auto operator<=>(AttributeId, AttributeId) = default;
};

// The first 24 bytes (IBTA 13.4.3). The two reserved bytes are not kept.
struct MadHeader {
  std::uint8_t base_version = kBaseVersion;
  ManagementClass management_class{};
  std::uint8_t class_version = 0;
  Method method{};
  MadStatus status = MadStatus::ok;
  std::uint16_t class_specific = 0;
  TransactionId transaction{};
  AttributeId attribute{};
  std::uint32_t attribute_modifier = 0;
  friend bool operator==(const MadHeader&, const MadHeader&) = default;
};

// Reads the header of `mad`, of any class. Errors: wrong_size, wrong_base_version; the header is read for the
// latter, too.
MadError decode(std::span<const std::byte> mad, MadHeader& header);

// Writes the header; the bytes behind it stay.
void encode(const MadHeader& header, Mad& mad);

}  // namespace urnic::wire::mad
