#include "device_model/control/uverbs/static_rate.hpp"

#include "device_model/control/fabric/port_rate.hpp"
#include "device_model/subnet/link_ability.hpp"

namespace urnic::control {

std::uint32_t static_rate_kbps(const PortRecord& port, const abi::AddressVector& address) {
  constexpr std::uint32_t kKilobits = 1000;
  const auto asked = link_rate(address.static_rate);
  if (!asked) return 0;
  const std::uint32_t rate = subnet::data_rate_mbps(*asked);
  return rate < subnet::data_rate_mbps(port.rate) ? rate * kKilobits : 0;
}

}  // namespace urnic::control
