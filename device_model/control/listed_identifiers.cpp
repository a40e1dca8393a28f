#include "device_model/control/listed_identifiers.hpp"

#include <cstring>

#include "device_model/control/rdma_cm/channel.hpp"

namespace urnic::control {
namespace {

// Linux's enum rdma_cm_state, as "rdma" names its values.
std::uint8_t linux_state(rdma_cm::IdState state) {
  switch (state) {
    case rdma_cm::IdState::idle:
      return 0;
    case rdma_cm::IdState::address_query:
      return 1;
    case rdma_cm::IdState::address_resolved:
      return 2;
    case rdma_cm::IdState::route_query:
      return 3;
    case rdma_cm::IdState::route_resolved:
      return 4;
    case rdma_cm::IdState::connect:
      return 5;
    case rdma_cm::IdState::disconnect:
      return 6;
    case rdma_cm::IdState::address_bound:
      return 7;
    case rdma_cm::IdState::listen:
      return 8;
  }
  return 0;
}

sockaddr_storage storage_of(const rdma_cm::SocketAddress& address) {
  sockaddr_storage storage{};
  rdma_cm::write_address(address, std::as_writable_bytes(std::span(&storage, 1)));
  return storage;
}

// A listener on every address is each device's: Linux makes one more for each (cma_listen_on_all).
bool is_of(const rdma_cm::Id* id, const ServedDevice& device) {
  if (id == nullptr) return false;
  return id->local ? id->local->device == &device : id->state == rdma_cm::IdState::listen;
}

netlink::CmIdentifier describe(const rdma_cm::Id& id) {
  netlink::CmIdentifier described;
  described.number = id.number;
  described.qpn = id.qpn.value;
  described.qp_type = static_cast<std::uint8_t>(id.qp_type);
  described.state = linux_state(id.state);
  described.port_space = static_cast<std::uint32_t>(id.space);
  described.source = storage_of(id.endpoints.source);
  described.destination = storage_of(id.endpoints.destination);
  if (id.channel != nullptr) described.pid = id.channel->opener().pid;
  return described;
}

}  // namespace

std::size_t ListedIdentifiers::count(const ServedDevice& device) const {
  std::size_t count = 0;
  for (std::uint32_t number = 0; number < identifiers_.end_number(); ++number)
    count += is_of(identifiers_.find(number), device);
  return count;
}

void ListedIdentifiers::list(const ServedDevice& device, std::uint32_t first, std::size_t most,
                             std::vector<netlink::CmIdentifier>& identifiers) const {
  for (std::uint32_t number = first; number < identifiers_.end_number() && identifiers.size() < most;
       ++number) {
    const rdma_cm::Id* const id = identifiers_.find(number);
    if (is_of(id, device)) identifiers.push_back(describe(*id));
  }
}

}  // namespace urnic::control
