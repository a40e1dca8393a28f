// The header by which one message is several datagrams: RMPP (IBTA 13.6.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/mad/mad_header.hpp"

namespace urnic::wire::mad {

inline constexpr std::size_t kRmppHeaderBytes = 12;  // behind the header of all datagrams
inline constexpr std::uint8_t kRmppVersion = 1;
// What a datagram has behind the RMPP header: the header of its class, then data. A length in the RMPP header
// counts both (IBTA 13.6.2.1).
inline constexpr std::size_t kRmppPayloadBytes = kMadBytes - kMadHeaderBytes - kRmppHeaderBytes;

// IBTA 13.6.2.1. Values that have no name here occur, too.
enum class RmppType : std::uint8_t {
  none = 0,  // the datagram is the message
  data = 1,
  acknowledgement = 2,
  stop = 3,
  abort = 4,
};

// IBTA 13.6.2. Values that have no name here occur, too.
enum class RmppStatus : std::uint8_t {
  normal = 0,
  resources_exhausted = 1,    // of STOP; the rest are of ABORT
  total_time_too_long = 118,  // of the whole message
  inconsistent_last = 119,    // the last segment's length is none
  inconsistent_first = 120,   // the first segment is not number 1, or number 1 is not the first
  bad_type = 121,             // type that does not exist
  window_too_small = 122,     // the window ends before the segment that is acknowledged
  segment_too_big = 123,      // acknowledged, and never sent
  illegal_status = 124,       // status that the type cannot have
  unsupported_version = 125,
  too_many_retries = 126,
  unspecified = 127,
};

struct RmppHeader {
  std::uint8_t version = 0;
  RmppType type = RmppType::none;
  std::uint8_t response_time = 0;  // 5 bits: 4.096 us * 2^n
  bool last = false;
  bool first = false;
  bool active = false;  // without it no other field counts
  RmppStatus status = RmppStatus::normal;
  std::uint32_t segment = 0;  // data: from 1 on; acknowledgement: the last that came in order
  std::uint32_t length_or_window =
      0;  // data, first and last: bytes of payload; acknowledgement: last segment that may be sent
  friend bool operator==(const RmppHeader&, const RmppHeader&) = default;
};

// Whether datagrams of the class have the header: subnet administration, device management and
// administration, BIS, and the vendors' classes with an OUI (IBTA 13.6).
bool has_rmpp(ManagementClass management_class);

// Where a class's data begin in each datagram: behind the headers, which are repeated in each segment.
std::size_t data_offset(ManagementClass management_class);

// The RMPP header of a datagram whose class has one (`has_rmpp`). Whether the fields make sense is for the
// caller to judge. Error: wrong_size. `header` is written only if there is no error.
MadError decode(std::span<const std::byte> mad, RmppHeader& header);

// Overwrites the datagram's RMPP header, and nothing else.
void encode(const RmppHeader& header, Mad& mad);

}  // namespace urnic::wire::mad
