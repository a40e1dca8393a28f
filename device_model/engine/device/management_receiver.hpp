// Takes the datagrams to the management queue pairs, QP0 and QP1 (IBTA 3.5.10). No program has these; they
// are in the device process itself.
#pragma once

#include "device_model/transport/host.hpp"
#include "wire/network_headers.hpp"

namespace urnic::engine {

class ManagementReceiver {
 public:
  // Engine thread. The packet's payload and GRH stay until the batch ends; `network` has the source address.
  virtual void receive(const transport::InboundPacket& packet, const wire::NetworkHeaders& network) = 0;

 protected:
  ~ManagementReceiver() = default;
};

}  // namespace urnic::engine
