#include "device_model/control/rdma_cm/ports.hpp"

#include <algorithm>
#include <cerrno>

namespace urnic::control::rdma_cm {
namespace {

int conflict(const Endpoints& own, const Endpoints& other, bool may_share) {
  if (may_share && own.reuse_address && other.reuse_address) return 0;
  const bool families_apart = own.address_family_only && other.address_family_only;
  if (families_apart && own.source.family != other.source.family) return 0;
  if (is_any(own.source) || is_any(other.source)) return EADDRNOTAVAIL;
  return same_address(own.source, other.source) ? EADDRINUSE : 0;
}

int conflict(const Endpoints& own, const std::vector<Endpoints*>& owners, bool may_share) {
  for (const Endpoints* other : owners) {
    if (other == &own) continue;
    if (const int error = conflict(own, *other, may_share)) return error;
  }
  return 0;
}

bool has_peer(const Endpoints& endpoints) {
  return endpoints.destination.family != Family::none && endpoints.destination.port != 0;
}

// Whether requests and answers of the two can be told apart by their addresses and the peer's port.
bool are_distinct(const Endpoints& a, const Endpoints& b) {
  const bool both_bound = !is_any(a.source) && !is_any(b.source);
  if (both_bound && !same_address(a.source, b.source)) return true;
  if (!has_peer(a) || !has_peer(b)) return false;
  return a.destination.port != b.destination.port || !same_address(a.destination, b.destination);
}

}  // namespace

std::string_view name(PortSpace space) {
  switch (space) {
    case PortSpace::tcp:
      return "tcp";
    case PortSpace::udp:
      return "udp";
    case PortSpace::ib:
      return "ib";
    case PortSpace::ipoib:
      return "ipoib";
  }
  return "";
}

const Ports::Owners* Ports::find(PortSpace space, std::uint16_t port) const {
  const auto found = owners_.find(key(space, port));
  return found == owners_.end() ? nullptr : &found->second;
}

std::vector<std::uint32_t> Ports::owners(PortSpace space, std::uint16_t port) const {
  std::vector<std::uint32_t> identifiers;
  const Owners* const found = find(space, port);
  if (found == nullptr) return identifiers;
  for (const Endpoints* const owner : *found) identifiers.push_back(owner->identifier);
  return identifiers;
}

void Ports::enter(PortSpace space, std::uint16_t port, Endpoints& owner, TakenPort& taken) {
  owners_[key(space, port)].push_back(&owner);
  owner.source = with_port(owner.source, port);
  taken = TakenPort(this, {space, port, &owner});
}

int Ports::take_any(PortSpace space, Endpoints& owner, TakenPort& taken) {
  constexpr std::uint32_t kCount = kLastEphemeral - kFirstEphemeral + 1;
  const auto start = static_cast<std::uint32_t>(random_() % kCount);
  for (std::uint32_t i = 0; i < kCount; ++i) {
    const auto port = static_cast<std::uint16_t>(kFirstEphemeral + (start + i) % kCount);
    if (port == last_) continue;
    const Owners* const owners = find(space, port);
    const auto distinct = [&](const Endpoints* other) { return are_distinct(owner, *other); };
    if (owners != nullptr && !std::all_of(owners->begin(), owners->end(), distinct)) continue;
    enter(space, port, owner, taken);
    last_ = port;
    return 0;
  }
  return EADDRNOTAVAIL;
}

int Ports::take(PortSpace space, Endpoints& owner, TakenPort& taken) {
  const std::uint16_t port = owner.source.port;
  if (port == 0) return take_any(space, owner, taken);
  if (const Owners* const owners = find(space, port)) {
    if (const int error = conflict(owner, *owners, true)) return error;
  }
  enter(space, port, owner, taken);
  return 0;
}

int Ports::check_exclusive(const TakenPort& taken) const {
  const Claim& claim = taken.value();
  const Owners* const owners = find(claim.space, claim.port);
  return owners == nullptr ? 0 : conflict(*claim.owner, *owners, false);
}

void Ports::give_back(const Claim& claim) {
  const auto found = owners_.find(key(claim.space, claim.port));
  if (found == owners_.end()) return;
  std::erase(found->second, claim.owner);
  if (found->second.empty()) owners_.erase(found);
}

}  // namespace urnic::control::rdma_cm
