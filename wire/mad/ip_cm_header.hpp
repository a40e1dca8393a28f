// The RDMA IP CM service's header (IBTA annex A11): the first bytes of the private data of a REQ or
// SIDR_REQ whose service id is that of a port. It carries the IP addresses that the programs use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/identifiers.hpp"

namespace urnic::wire::mad {

inline constexpr std::size_t kIpCmHeaderBytes = 36;

enum class IpVersion : std::uint8_t { v4 = 4, v6 = 6 };

struct IpCmHeader {
  IpVersion ip_version{};  // 4 bits
  std::uint16_t source_port = 0;
  Gid source;  // IPv4: mapped, ::ffff:a.b.c.d; on the wire the twelve bytes before an IPv4 address are zero
  Gid destination;
  friend bool operator==(const IpCmHeader&, const IpCmHeader&) = default;
};

enum class IpCmError : std::uint8_t {
  none,
  too_short,         // fewer than kIpCmHeaderBytes bytes
  wrong_version,     // the header's version is not 0
  wrong_ip_version,  // neither 4 nor 6
};

// Reads the header from the first bytes of `private_data`. `header` is written only if there is no error. The
// bytes before an IPv4 address are ignored.
IpCmError decode(std::span<const std::byte> private_data, IpCmHeader& header);

// Writes the header to the first kIpCmHeaderBytes bytes of `private_data`, which must have as many. Of an
// address of IpVersion::v4 only the last four bytes are written.
void encode(const IpCmHeader& header, std::span<std::byte> private_data);

}  // namespace urnic::wire::mad
