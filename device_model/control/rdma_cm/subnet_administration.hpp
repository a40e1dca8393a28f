// What identifiers have of the administration of their InfiniBand subnet: paths and groups.
#pragma once

#include <cstdint>
#include <functional>

#include "device_model/control/rdma_cm/broadcast_groups.hpp"
#include "device_model/subnet/administration/client.hpp"
#include "device_model/subnet/administration/memberships.hpp"

namespace urnic::control::rdma_cm {

struct SubnetAdministration {
  // Fabric and host outlive it. `exists` says whether the fabric's manager answers such requests: the
  // built-in one does not.
  SubnetAdministration(const Fabric& fabric, subnet::administration::Host& host,
                       std::function<subnet::administration::Time()> now, std::uint64_t seed,
                       std::function<bool()> answers)
      : client(host, static_cast<std::uint32_t>(seed)),
        memberships(client, std::move(now)),
        broadcast(fabric, memberships, answers),
        exists(std::move(answers)) {}

  subnet::administration::Client client;
  subnet::administration::Memberships memberships;
  BroadcastGroups broadcast;
  std::function<bool()> exists;
};

// 0, or what Linux's ib_sa makes of the outcome: an errno.
int to_errno(subnet::administration::Outcome outcome);

}  // namespace urnic::control::rdma_cm
