// What the answers tell of rdma_cm identifiers. The part of the device process that serves rdma_cm implements
// this interface; without one there are none.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device_model/control/fabric/fabric.hpp"

namespace urnic::control::netlink {

struct CmIdentifier {
  std::uint32_t number = 0;
  std::uint32_t qpn = 0;         // 0: it has no queue pair
  std::uint8_t qp_type = 0;      // ibv_qp_type
  std::uint8_t state = 0;        // Linux's enum rdma_cm_state
  std::uint32_t port_space = 0;  // RDMA_PS_…
  pid_t pid = 0;                 // 0: a PID namespace hides it
  sockaddr_storage source{};     // family 0: not known
  sockaddr_storage destination{};
};

// Control thread only.
class CmIdentifierSource {
 public:
  virtual ~CmIdentifierSource() = default;
  // How many the device has.
  virtual std::size_t count(const ServedDevice& device) const = 0;
  // Appends those of the device with numbers from `first` on, in rising order, at most `most`.
  virtual void list(const ServedDevice& device, std::uint32_t first, std::size_t most,
                    std::vector<CmIdentifier>& identifiers) const = 0;
};

}  // namespace urnic::control::netlink
