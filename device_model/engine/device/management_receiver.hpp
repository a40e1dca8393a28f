// Takes the datagrams to the management queue pairs, QP0 and QP1 (IBTA 3.5.10). No program has these; they
// are in the device process itself.
#pragma once

#include <cstdint>
#include <span>

#include "device_model/transport/host.hpp"
#include "wire/network_headers.hpp"

namespace urnic::engine {

class ManagementReceiver {
 public:
  // Engine thread. The packet's payload and GRH stay until the batch ends; `network` has the source address.
  virtual void receive(const transport::InboundPacket& packet, const wire::NetworkHeaders& network) = 0;
  // The port has these P_Keys from now on.
  virtual void follow_pkeys(std::span<const std::uint16_t> /*pkeys*/) {}

 protected:
  ~ManagementReceiver() = default;
};

}  // namespace urnic::engine
