#include "wire/mad/service_id.hpp"

namespace urnic::wire::mad {

std::optional<ServicePort> service_port(ServiceId id) {
  for (const PortSpace space : {PortSpace::ipoib, PortSpace::tcp, PortSpace::udp, PortSpace::ib}) {
    if (id.value >> 16 == static_cast<std::uint64_t>(space)) {
      return ServicePort{.space = space, .port = static_cast<std::uint16_t>(id.value)};
    }
  }
  return std::nullopt;
}

}  // namespace urnic::wire::mad
