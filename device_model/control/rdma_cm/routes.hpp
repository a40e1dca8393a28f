// From a resolved address to the path of packets: at once on Ethernet, where Linux makes it up. On InfiniBand
// the subnet manager is asked for a path record (Linux's cma_query_ib_route); a fabric whose manager does not
// answer such requests gets its paths from what that has written to the ports.
#pragma once

#include <chrono>
#include <span>

#include "device_model/control/rdma_cm/identifiers.hpp"
#include "device_model/control/rdma_cm/subnet_administration.hpp"
#include "wire/mad/subnet_administration.hpp"

namespace urnic::control::rdma_cm {

class Routes {
 public:
  // All outlive it.
  Routes(Identifiers& identifiers, SubnetAdministration& administration)
      : identifiers_(identifiers), administration_(administration) {}

  // Leads the identifier, which is in address_resolved, to route_resolved with the event, at once or within
  // `patience`; or back, with ROUTE_ERROR. EAGAIN: its port has no subnet manager.
  int start(Id& id, std::chrono::milliseconds patience);

  // The same by the path record that the program has got elsewhere. EINVAL: nobody could send along it.
  int take(Id& id, const wire::mad::PathRecord& record);

 private:
  int ask(Id& id, std::chrono::milliseconds patience);
  void answered(std::uint32_t number, subnet::administration::Outcome outcome, const wire::mad::Mad& mad);
  void resolved(Id& id, const cm::Path& path);
  void fail(Id& id, int error);

  Identifiers& identifiers_;
  SubnetAdministration& administration_;
};

}  // namespace urnic::control::rdma_cm
