// BIND_IP, BIND, RESOLVE_IP, RESOLVE_ADDR, RESOLVE_ROUTE, LISTEN.
#include <cerrno>

#include "device_model/control/rdma_cm/commands.hpp"
#include "device_model/control/rdma_cm/infiniband_addresses.hpp"

namespace urnic::control::rdma_cm {
namespace {

// net.rdma_ucm.max_backlog of Linux.
constexpr std::uint32_t kMaxBacklog = 1024;

template <class Native>
std::span<const std::byte> bytes_of(const Native& native) {
  return std::as_bytes(std::span(&native, 1));
}

// An address of a command that says how long it is.
bool has_size(const __kernel_sockaddr_storage& address, std::size_t size) {
  return size != 0 && size == address_bytes(family_of(bytes_of(address)));
}

bool is_ip(const sockaddr_in6& address) {
  const auto family = static_cast<Family>(address.sin6_family);
  return family == Family::ip4 || family == Family::ip6;
}

// The device of an address that an identifier is to be bound to; none for a wildcard.
int find_device(const Session& session, const SocketAddress& address, std::optional<LocalAddress>& local) {
  if (is_any(address)) return 0;
  const Fabric& fabric = session.identifiers.fabric();
  const bool is_gid = address.family == Family::ib;
  local = is_gid ? find_by_gid(fabric, address.ip) : find_local(fabric, address);
  if (local) return 0;
  if (is_gid) return ENODEV;
  if (is_link_local(address) && address.scope == 0) return EINVAL;
  return is_loopback(address) ? ENODEV : EADDRNOTAVAIL;
}

// A listener on :: takes IPv4 requests, too, as if net.ipv6.bindv6only were 0.
bool is_family_only(const Id& id, const SocketAddress& address) {
  return id.has_chosen_family_only ? id.endpoints.address_family_only : address.family == Family::ip4;
}

int take_port(Identifiers& identifiers, Id& id) {
  SocketAddress& source = id.endpoints.source;
  const auto space =
      source.family == Family::ib ? select_port_space(id.space, source) : std::optional(id.space);
  if (!space) return EPROTONOSUPPORT;
  const std::uint16_t port = source.port;
  const int error = identifiers.ports().take(*space, id.endpoints, id.port);
  if (error == 0 || port == 0 || !identifiers.destroy_gone_owners(*space, port)) return error;
  return identifiers.ports().take(*space, id.endpoints, id.port);
}

int check_exclusive(Identifiers& identifiers, const Id& id) {
  const int error = identifiers.ports().check_exclusive(id.port);
  if (error == 0 || !identifiers.destroy_gone_owners(id.port.value().space, id.endpoints.source.port))
    return error;
  return identifiers.ports().check_exclusive(id.port);
}

int bind_to(Session& session, Id& id, const SocketAddress& address, const SocketAddress& destination) {
  if (id.state != IdState::idle) return EINVAL;
  if (address.family == Family::none) return EAFNOSUPPORT;
  std::optional<LocalAddress> local;
  if (const int error = find_device(session, address, local)) return error;
  // RoCE has no IP over InfiniBand.
  if (id.space == PortSpace::ipoib && local && !local->device->adapter) return EINVAL;
  const bool low = address.port != 0 && address.port < Ports::kFirstUnprivileged;
  if (low && !session.channel.opener().may_bind_low_port(address.port)) return EACCES;

  const Endpoints before = id.endpoints;
  id.endpoints.source = address;
  id.endpoints.destination = destination;
  id.endpoints.address_family_only = is_family_only(id, address);
  if (const int error = take_port(session.identifiers, id)) {
    id.endpoints = before;
    return error;
  }
  id.local = local;
  if (id.space == PortSpace::ipoib && local) session.administration.broadcast.join(*local->device);
  id.state = IdState::address_bound;
  return 0;
}

int bind_to(Session& session, Id& id, const SocketAddress& address) {
  return bind_to(session, id, address, {.family = address.family});
}

SocketAddress source_for(const SocketAddress& source, const SocketAddress& destination) {
  if (source.family != Family::none) return source;
  SocketAddress any = any_address(destination.family);
  any.scope = destination.scope;
  any.pkey = destination.pkey;
  return any;
}

int resolve(Session& session, Id& id, const SocketAddress& source, SocketAddress destination,
            std::uint32_t timeout_ms) {
  if (id.state == IdState::idle) {
    const int error = bind_to(session, id, source_for(source, destination), destination);
    if (error != 0) return error;
  }
  if (id.state != IdState::address_bound) return EINVAL;
  if (id.endpoints.source.family != destination.family) return EINVAL;
  if (destination.family != Family::ib) {
    const Fabric& fabric = session.identifiers.fabric();
    if (!has_address_of(fabric, destination.family)) return ENETUNREACH;
    if (is_any(destination))
      destination.ip = loopback_address(*fabric.devices().front(), destination.family).ip;
  }
  id.endpoints.destination = destination;
  id.state = IdState::address_query;
  return session.resolutions.start(id, std::chrono::milliseconds(timeout_ms));
}

}  // namespace

int bind_ip(Session& session, const rdma_ucm_bind_ip& command, NoAnswer&) {
  if (!is_ip(command.addr)) return EINVAL;
  Id* id = nullptr;
  if (const int error = find_id(session, command.id, id)) return error;
  return bind_to(session, *id, read_address(bytes_of(command.addr)));
}

int bind(Session& session, const rdma_ucm_bind& command, NoAnswer&) {
  if (address_bytes(family_of(bytes_of(command.addr))) == 0 && command.addr_size != 0) return EAFNOSUPPORT;
  if (command.reserved != 0 || !has_size(command.addr, command.addr_size)) return EINVAL;
  Id* id = nullptr;
  if (const int error = find_id(session, command.id, id)) return error;
  return bind_to(session, *id, read_address(bytes_of(command.addr)));
}

int resolve_ip(Session& session, const rdma_ucm_resolve_ip& command, NoAnswer&) {
  if (command.src_addr.sin6_family != 0 && !is_ip(command.src_addr)) return EINVAL;
  if (!is_ip(command.dst_addr)) return EINVAL;
  Id* id = nullptr;
  if (const int error = find_id(session, command.id, id)) return error;
  return resolve(session, *id, read_address(bytes_of(command.src_addr)),
                 read_address(bytes_of(command.dst_addr)), command.timeout_ms);
}

int resolve_address(Session& session, const rdma_ucm_resolve_addr& command, NoAnswer&) {
  if (command.reserved != 0 || !has_size(command.dst_addr, command.dst_size)) return EINVAL;
  if (command.src_size != 0 && !has_size(command.src_addr, command.src_size)) return EINVAL;
  Id* id = nullptr;
  if (const int error = find_id(session, command.id, id)) return error;
  const SocketAddress source =
      command.src_size == 0 ? SocketAddress{} : read_address(bytes_of(command.src_addr));
  return resolve(session, *id, source, read_address(bytes_of(command.dst_addr)), command.timeout_ms);
}

int resolve_route(Session& session, const rdma_ucm_resolve_route& command, NoAnswer&) {
  Id* id = nullptr;
  if (const int error = find_id_with_device(session, command.id, id)) return error;
  if (command.timeout_ms == 0 || id->state != IdState::address_resolved) return EINVAL;
  return session.routes.start(*id, std::chrono::milliseconds(command.timeout_ms));
}

int listen(Session& session, const rdma_ucm_listen& command, NoAnswer&) {
  Id* id = nullptr;
  if (const int error = find_id(session, command.id, id)) return error;
  if (id->state == IdState::idle) {
    if (const int error = bind_to(session, *id, any_address(Family::ip4))) return error;
  }
  if (id->state != IdState::address_bound) return EINVAL;
  if (id->endpoints.reuse_address) {
    if (const int error = check_exclusive(session.identifiers, *id)) return error;
  }
  const bool usable = command.backlog >= 1 && command.backlog <= kMaxBacklog;
  id->backlog = usable ? command.backlog : kMaxBacklog;
  if (id->space == PortSpace::ipoib && !id->local) session.administration.broadcast.join_all();
  return session.identifiers.listen(*id);
}

}  // namespace urnic::control::rdma_cm
