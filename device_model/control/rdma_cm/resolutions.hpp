// From a destination address to the device and the peer's GID. Usually at once; for an address that nobody
// has, and until the device is in the broadcast group that the port space IPOIB needs, as long as the program
// is willing to wait.
#pragma once

#include <optional>
#include <set>

#include "device_model/control/rdma_cm/broadcast_groups.hpp"
#include "device_model/control/rdma_cm/identifiers.hpp"

namespace urnic::control::rdma_cm {

class Resolutions {
 public:
  // Both outlive it.
  Resolutions(Identifiers& identifiers, BroadcastGroups& broadcast)
      : identifiers_(identifiers), broadcast_(broadcast) {}

  // Leads the identifier, which has its addresses and is in address_query, to address_resolved or back to
  // address_bound, with the event; at once or within `patience`. 0, or an errno if there is no route: it is
  // in address_bound then, and gets no event.
  int start(Id& id, std::chrono::milliseconds patience);

  // Tries again what has not been found yet, without asking for routes to addresses that nobody has; to be
  // called every few milliseconds while there is such.
  void look_again();
  bool empty() const { return waiting_.empty(); }

 private:
  bool waits_for_broadcast(Id& id, const ServedDevice& device);
  int resolve(Id& id);
  void fail(Id& id, int error);

  Identifiers& identifiers_;
  BroadcastGroups& broadcast_;
  std::set<std::uint32_t> waiting_;
};

}  // namespace urnic::control::rdma_cm
