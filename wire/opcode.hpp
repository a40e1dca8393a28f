// BTH opcodes (IBTA 9.2.1, table 38) and what follows from them: which extended headers a packet carries, its
// place in a message, which side sends it.
#pragma once

#include <array>
#include <cstdint>

namespace urnic::wire {

// The upper three bits of a BTH opcode.
enum class Service : std::uint8_t {
  rc = 0x00,
  uc = 0x20,
  rd = 0x40,
  ud = 0x60,
  cnp = 0x80,
  xrc = 0xA0,
  manufacturer = 0xE0,  // left to each manufacturer
};

// True for services whose responder answers every request, also a refused one.
constexpr bool is_acknowledged(Service service) { return service == Service::rc || service == Service::xrc; }

// The lower five bits of a BTH opcode. UC uses 0x00 to 0x0B, UD 0x04 and 0x05.
enum class Operation : std::uint8_t {
  send_first = 0x00,
  send_middle = 0x01,
  send_last = 0x02,
  send_last_immediate = 0x03,
  send_only = 0x04,
  send_only_immediate = 0x05,
  write_first = 0x06,
  write_middle = 0x07,
  write_last = 0x08,
  write_last_immediate = 0x09,
  write_only = 0x0A,
  write_only_immediate = 0x0B,
  read_request = 0x0C,
  read_response_first = 0x0D,
  read_response_middle = 0x0E,
  read_response_last = 0x0F,
  read_response_only = 0x10,
  acknowledge = 0x11,
  atomic_acknowledge = 0x12,
  compare_swap = 0x13,
  fetch_add = 0x14,
  // 0x15 is reserved
  send_last_invalidate = 0x16,
  send_only_invalidate = 0x17,
  // 0x18 to 0x1C: reserved, or not offered (flush)
  atomic_write = 0x1D,  // annex A19
};

// A whole BTH opcode byte. Any byte value may arrive: check traits().known before anything else.
struct Opcode {
  std::uint8_t value = 0;

  constexpr Opcode() = default;
  constexpr explicit Opcode(std::uint8_t byte) : value(byte) {}
  constexpr Opcode(Service service, Operation operation)
      : value(static_cast<std::uint8_t>(service) | static_cast<std::uint8_t>(operation)) {}

  constexpr Service service() const { return static_cast<Service>(value & 0xE0); }
  constexpr Operation operation() const { return static_cast<Operation>(value & 0x1F); }
  friend constexpr bool operator==(Opcode, Opcode) = default;
};

// The RoCEv2 congestion notification packet (IBTA A17.9.3).
inline constexpr Opcode kCongestionNotification{0x81};

// Our own: a NAK for a PSN sequence error that also says which later packets have arrived. Sent only to a
// peer that is known to understand it (docs/selective-acks.md).
inline constexpr Opcode kSelectiveAcknowledge{Service::manufacturer, Operation::acknowledge};

// Our own, too: says to a peer whether its sender gives and reads selective acks (selective_ack_offer.hpp).
// Its lower five bits are reserved in every service, so no device takes it for a packet that it knows.
inline constexpr Opcode kSelectiveAckOffer{static_cast<std::uint8_t>(0xF5)};

// Extended transport headers, as bits, in the order in which they follow the BTH (IBTA 9.2.1, table 38).
enum HeaderBit : std::uint16_t {
  has_deth = 0x01,
  has_xrceth = 0x02,
  has_reth = 0x04,
  has_atomic_eth = 0x08,
  has_aeth = 0x10,
  has_atomic_ack_eth = 0x20,
  has_immediate = 0x40,
  has_ieth = 0x80,
  has_selective_ack = 0x100,
};

// What follows from an opcode.
struct OpcodeTraits {
  bool known = false;
  std::uint16_t headers = 0;  // HeaderBit values
  bool request = false;       // sent by a requester, not by a responder
  bool first = false;         // first or only packet of its message
  bool last = false;          // last or only packet of its message
  bool carries_payload = false;
};

// The row of table 38 for `opcode`. `known` is false for reserved opcodes and for reliable datagram (RD),
// which no RoCE device has.
extern const std::array<OpcodeTraits, 256> kOpcodeTraits;
inline const OpcodeTraits& traits(Opcode opcode) { return kOpcodeTraits[opcode.value]; }

// The opcode's name as Wireshark's packet list prints it, such as "RC Send First"; "unknown" for a reserved
// opcode. Static storage.
const char* name(Opcode opcode);

}  // namespace urnic::wire
