// Service ids (IBTA 12.7): what a REQ or SIDR_REQ asks for. The RDMA IP CM service makes them of a port
// space and a port (annex A11).
#pragma once

#include <compare>
#include <cstdint>
#include <optional>

namespace urnic::wire::mad {

struct ServiceId {
  std::uint64_t value = 0;
  friend constexpr auto operator<=>(ServiceId, ServiceId) = default;
};

// Port spaces of librdmacm (enum rdma_port_space), with its values. The low byte of `tcp` and `udp` is the
// IP protocol's number. Each space has its own 65536 ports.
enum class PortSpace : std::uint16_t { ipoib = 0x0002, tcp = 0x0106, udp = 0x0111, ib = 0x013F };

struct ServicePort {
  PortSpace space{};
  std::uint16_t port = 0;
  friend constexpr bool operator==(ServicePort, ServicePort) = default;
};

// The port space in the upper bits, the port in the low 16.
constexpr ServiceId service_id(ServicePort port) {
  return {static_cast<std::uint64_t>(port.space) << 16 | port.port};
}

// The port that a service id stands for; nothing if its upper bits are no PortSpace.
std::optional<ServicePort> service_port(ServiceId id);

}  // namespace urnic::wire::mad
