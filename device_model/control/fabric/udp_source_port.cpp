#include "device_model/control/fabric/udp_source_port.hpp"

namespace urnic::control {

std::uint16_t udp_source_port(std::uint32_t flow_label, wire::Qpn own, wire::Qpn destination) {
  flow_label &= kFlowLabelMask;
  if (flow_label == 0) {
    std::uint64_t product = std::uint64_t{own.value} * destination.value;
    product ^= product >> 20;
    product ^= product >> 40;
    flow_label = static_cast<std::uint32_t>(product & kFlowLabelMask);
  }
  // Folds 20 bits into 14, in the range of dynamic ports.
  return static_cast<std::uint16_t>(0xC000 | ((flow_label ^ (flow_label >> 14)) & 0x3FFF));
}

}  // namespace urnic::control
