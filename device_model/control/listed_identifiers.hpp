// The identifiers of rdma_cm, as RDMA netlink lists them ("rdma resource show cm_id").
#pragma once

#include "device_model/control/netlink/cm_identifiers.hpp"
#include "device_model/control/rdma_cm/identifiers.hpp"

namespace urnic::control {

// Those that have a device, and for every device the listeners on every address.
class ListedIdentifiers final : public netlink::CmIdentifierSource {
 public:
  // `identifiers` outlives it.
  explicit ListedIdentifiers(const rdma_cm::Identifiers& identifiers) : identifiers_(identifiers) {}

  std::size_t count(const ServedDevice& device) const override;
  void list(const ServedDevice& device, std::uint32_t first, std::size_t most,
            std::vector<netlink::CmIdentifier>& identifiers) const override;

 private:
  const rdma_cm::Identifiers& identifiers_;
};

}  // namespace urnic::control
