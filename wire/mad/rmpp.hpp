// The header by which one message is several datagrams: RMPP (IBTA 13.6.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/mad/mad_header.hpp"

namespace urnic::wire::mad {

inline constexpr std::size_t kRmppHeaderBytes = 12;  // behind the header of all datagrams
inline constexpr std::uint8_t kRmppVersion = 1;

// IBTA 13.6.2.1. Values that have no name here occur, too.
enum class RmppType : std::uint8_t {
  none = 0,  // the datagram is the message
  data = 1,
  acknowledgement = 2,
  stop = 3,
  abort = 4,
};

struct RmppHeader {
  std::uint8_t version = 0;
  RmppType type = RmppType::none;
  std::uint8_t response_time = 0;  // 5 bits: 4.096 us * 2^n
  bool last = false;
  bool first = false;
  bool active = false;  // without it no other field counts
  std::uint8_t status = 0;
  std::uint32_t segment = 0;  // data: from 1 on; acknowledgement: the last that came in order
  std::uint32_t length_or_window =
      0;  // data, first and last: bytes of payload; acknowledgement: last segment that may be sent
  friend bool operator==(const RmppHeader&, const RmppHeader&) = default;
};

// The RMPP header of a datagram whose class has one, which is for the caller to know, as is whether the
// fields make sense. Error: wrong_size. `header` is written only if there is no error.
MadError decode(std::span<const std::byte> mad, RmppHeader& header);

// Overwrites the datagram's RMPP header, and nothing else.
void encode(const RmppHeader& header, Mad& mad);

}  // namespace urnic::wire::mad
