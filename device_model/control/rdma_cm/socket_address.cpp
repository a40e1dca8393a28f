#include "device_model/control/rdma_cm/socket_address.hpp"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "device_model/control/fabric/configuration.hpp"
#include "wire/network_headers.hpp"

namespace urnic::control::rdma_cm {
namespace {

// <rdma/ib.h> has it for the kernel only.
struct SockaddrIb {
  std::uint16_t family;
  std::uint16_t pkey;
  std::uint32_t flow_info;
  std::array<std::uint8_t, 16> gid;
  std::uint64_t service_id;
  std::uint64_t service_mask;
  std::uint64_t scope;
};
static_assert(sizeof(SockaddrIb) == kIbAddressBytes && sizeof(sockaddr_in) == kIp4AddressBytes &&
              sizeof(sockaddr_in6) == kIp6AddressBytes);

constexpr std::size_t kMappedPrefix = 12;

std::uint64_t swapped(std::uint64_t value) { return __builtin_bswap64(value); }

template <class Native>
Native read_as(std::span<const std::byte> bytes) {
  Native native{};
  std::memcpy(&native, bytes.data(), sizeof native);
  return native;
}

wire::Gid mapped(const in_addr& ip) {
  wire::Gid gid;
  gid.bytes[10] = gid.bytes[11] = 0xFF;
  std::memcpy(gid.bytes.data() + kMappedPrefix, &ip, sizeof ip);
  return gid;
}

SocketAddress read_ip4(std::span<const std::byte> bytes) {
  const auto native = read_as<sockaddr_in>(bytes);
  return {.family = Family::ip4, .port = ntohs(native.sin_port), .ip = mapped(native.sin_addr)};
}

SocketAddress read_ip6(std::span<const std::byte> bytes) {
  const auto native = read_as<sockaddr_in6>(bytes);
  return {.family = Family::ip6,
          .port = ntohs(native.sin6_port),
          .ip = read_as<wire::Gid>(std::as_bytes(std::span(&native.sin6_addr, 1))),
          .flow_info = ntohl(native.sin6_flowinfo),
          .scope = native.sin6_scope_id};
}

SocketAddress read_ib(std::span<const std::byte> bytes) {
  const auto native = read_as<SockaddrIb>(bytes);
  const std::uint64_t service_id = swapped(native.service_id);
  const std::uint64_t service_mask = swapped(native.service_mask);
  return {.family = Family::ib,
          .port = static_cast<std::uint16_t>(service_id & service_mask),
          .ip = {native.gid},
          .flow_info = ntohl(native.flow_info),
          .pkey = ntohs(native.pkey),
          .service_id = service_id,
          .service_mask = service_mask};
}

template <class Native>
void write_as(const Native& native, std::span<std::byte> bytes) {
  std::memcpy(bytes.data(), &native, sizeof native);
}

void write_ip4(const SocketAddress& address, std::span<std::byte> bytes) {
  sockaddr_in native{};
  native.sin_family = AF_INET;
  native.sin_port = htons(address.port);
  std::memcpy(&native.sin_addr, address.ip.bytes.data() + kMappedPrefix, sizeof native.sin_addr);
  write_as(native, bytes);
}

void write_ip6(const SocketAddress& address, std::span<std::byte> bytes) {
  sockaddr_in6 native{};
  native.sin6_family = AF_INET6;
  native.sin6_port = htons(address.port);
  native.sin6_flowinfo = htonl(address.flow_info);
  native.sin6_addr = read_as<in6_addr>(std::as_bytes(std::span(&address.ip, 1)));
  native.sin6_scope_id = address.scope;
  write_as(native, bytes);
}

void write_ib(const SocketAddress& address, std::span<std::byte> bytes) {
  SockaddrIb native{};
  native.family = static_cast<std::uint16_t>(Family::ib);
  native.pkey = htons(address.pkey);
  native.flow_info = htonl(address.flow_info);
  native.gid = address.ip.bytes;
  native.service_id = swapped(address.service_id);
  native.service_mask = swapped(address.service_mask);
  write_as(native, bytes);
}

constexpr wire::Gid kAnyIp4{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF}};
constexpr wire::Gid kLoopbackIp6{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};

}  // namespace

std::size_t address_bytes(std::uint16_t family) {
  switch (static_cast<Family>(family)) {
    case Family::ip4:
      return kIp4AddressBytes;
    case Family::ip6:
      return kIp6AddressBytes;
    case Family::ib:
      return kIbAddressBytes;
    case Family::none:
      break;
  }
  return 0;
}

std::uint16_t family_of(std::span<const std::byte> bytes) { return read_as<std::uint16_t>(bytes); }

SocketAddress read_address(std::span<const std::byte> bytes) {
  switch (static_cast<Family>(family_of(bytes))) {
    case Family::ip4:
      return read_ip4(bytes);
    case Family::ip6:
      return read_ip6(bytes);
    case Family::ib:
      return read_ib(bytes);
    case Family::none:
      break;
  }
  return {};
}

void write_address(const SocketAddress& address, std::span<std::byte> bytes) {
  switch (address.family) {
    case Family::ip4:
      return write_ip4(address, bytes);
    case Family::ip6:
      return write_ip6(address, bytes);
    case Family::ib:
      return write_ib(address, bytes);
    case Family::none:
      return;
  }
}

SocketAddress any_address(Family family) {
  return {.family = family, .ip = family == Family::ip4 ? kAnyIp4 : wire::Gid{}};
}

SocketAddress with_port(SocketAddress address, std::uint16_t port) {
  address.port = port;
  if (address.family == Family::ib) {
    address.service_id = (address.service_id & address.service_mask & ~std::uint64_t{0xFFFF}) | port;
    address.service_mask = ~std::uint64_t{0};
  }
  return address;
}

bool is_any(const SocketAddress& address) { return address.ip == any_address(address.family).ip; }

bool is_loopback(const SocketAddress& address) {
  if (address.family == Family::ip4) return address.ip.bytes[kMappedPrefix] == 127;
  return address.family == Family::ip6 && address.ip == kLoopbackIp6;
}

bool is_link_local(const SocketAddress& address) {
  return address.family == Family::ip6 && wire::is_link_local(address.ip);
}

bool is_multicast(const SocketAddress& address) {
  if (address.family == Family::ip4) return (address.ip.bytes[kMappedPrefix] & 0xF0) == 0xE0;
  return address.ip.bytes[0] == 0xFF;
}

bool same_address(const SocketAddress& a, const SocketAddress& b) {
  return a.family == b.family && a.ip == b.ip;
}

std::string to_text(const SocketAddress& address) {
  char text[INET6_ADDRSTRLEN] = {};
  switch (address.family) {
    case Family::ip4:
      inet_ntop(AF_INET, address.ip.bytes.data() + kMappedPrefix, text, sizeof text);
      return fmt::format("{}:{}", text, address.port);
    case Family::ip6:
    case Family::ib:
      return fmt::format("[{}]:{}", control::to_text(address.ip), address.port);
    case Family::none:
      break;
  }
  return "no address";
}

}  // namespace urnic::control::rdma_cm
