// Addresses as programs give them to rdma_cm: sockaddr_in, sockaddr_in6, sockaddr_ib.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "wire/identifiers.hpp"

namespace urnic::control::rdma_cm {

enum class Family : std::uint16_t { none = 0, ip4 = 2, ip6 = 10, ib = 27 };

// sizeof sockaddr_in, sockaddr_in6, sockaddr_ib; of the space that the commands have for each.
inline constexpr std::size_t kIp4AddressBytes = 16;
inline constexpr std::size_t kIp6AddressBytes = 28;
inline constexpr std::size_t kIbAddressBytes = 48;
inline constexpr std::size_t kAddressBytes = 128;

// As a program writes it, before anything is checked; unused bytes are zero.
struct SocketAddress {
  Family family = Family::none;
  std::uint16_t port = 0;
  wire::Gid ip{};  // IPv4: mapped, ::ffff:a.b.c.d, also for 0.0.0.0; AF_IB: the GID
  std::uint32_t flow_info = 0;
  std::uint32_t scope = 0;

  // AF_IB only. The bits of `service_id` that `service_mask` does not have are for rdma_cm to choose; `port`
  // is the low 16 of those that it has.
  std::uint16_t pkey = 0;
  std::uint64_t service_id = 0;
  std::uint64_t service_mask = 0;

  friend bool operator==(const SocketAddress&, const SocketAddress&) = default;
};

// What sockaddr's family says that it takes: 0 for a family that rdma_cm does not know.
std::size_t address_bytes(std::uint16_t family);
inline std::size_t address_bytes(const SocketAddress& address) {
  return address_bytes(static_cast<std::uint16_t>(address.family));
}
// The first two bytes.
std::uint16_t family_of(std::span<const std::byte> bytes);

// Reads address_bytes(family_of(bytes)) bytes, as many as there are at least. An unknown family reads as
// `none`.
SocketAddress read_address(std::span<const std::byte> bytes);
// Writes address_bytes(address) bytes; nothing for `none`. There is room for them.
void write_address(const SocketAddress& address, std::span<std::byte> bytes);

SocketAddress any_address(Family family);
// With this port; of AF_IB all of the service id is fixed then, as by Linux's cma_bind_port.
SocketAddress with_port(SocketAddress address, std::uint16_t port);

// 0.0.0.0, :: or a GID of zeros.
bool is_any(const SocketAddress& address);
// 127.0.0.0/8 or ::1.
bool is_loopback(const SocketAddress& address);
bool is_link_local(const SocketAddress& address);
bool is_multicast(const SocketAddress& address);
// The same address, whatever the ports.
bool same_address(const SocketAddress& a, const SocketAddress& b);

// For log lines and statuses: "192.0.2.1:7174", "[fe80::1]:7174".
std::string to_text(const SocketAddress& address);

}  // namespace urnic::control::rdma_cm
