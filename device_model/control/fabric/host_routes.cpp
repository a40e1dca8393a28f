#include "device_model/control/fabric/host_routes.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "device_model/control/fabric/netlink_attributes.hpp"
#include "wire/network_headers.hpp"

namespace urnic::control {
namespace {

template <typename Body>
struct Request {
  nlmsghdr header;
  Body body;
  std::array<std::byte, 2 * RTA_SPACE(16)> attributes;
};

template <typename Body>
Request<Body> begin_request(std::uint16_t type, std::uint16_t flags) {
  Request<Body> request{};
  request.header.nlmsg_len = NLMSG_LENGTH(sizeof request.body);
  request.header.nlmsg_type = type;
  request.header.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
  return request;
}

template <typename Body>
std::span<const std::byte> bytes_of(const Request<Body>& request) {
  return std::as_bytes(std::span(&request, 1)).first(request.header.nlmsg_len);
}

// The address itself: 4 or 16 bytes.
std::span<const std::byte> address_bytes(const wire::Gid& address) {
  return std::as_bytes(std::span(address.bytes)).last(wire::is_ipv4_mapped(address) ? 4 : 16);
}

unsigned char family_of(const wire::Gid& address) {
  return wire::is_ipv4_mapped(address) ? AF_INET : AF_INET6;
}

template <typename Body>
void add(Request<Body>& request, unsigned short type, std::span<const std::byte> value) {
  auto* const at = reinterpret_cast<std::byte*>(&request) + NLMSG_ALIGN(request.header.nlmsg_len);
  const rtattr head{static_cast<unsigned short>(RTA_LENGTH(value.size())), type};
  std::memcpy(at, &head, sizeof head);
  std::memcpy(at + RTA_LENGTH(0), value.data(), value.size());
  request.header.nlmsg_len = NLMSG_ALIGN(request.header.nlmsg_len) + RTA_SPACE(value.size());
}

// Some kernels answer with an IPv6 route that says that there is none.
int error_of(const rtmsg& route) {
  switch (route.rtm_type) {
    case RTN_UNREACHABLE:
      return ENETUNREACH;
    case RTN_PROHIBIT:
      return EACCES;
    case RTN_BLACKHOLE:
      return EINVAL;
    default:
      return 0;
  }
}

// The message that the answer begins with; null: there is none.
const nlmsghdr* message_of(std::span<const std::byte> answer) {
  const auto* const message = reinterpret_cast<const nlmsghdr*>(answer.data());
  return NLMSG_OK(message, static_cast<unsigned>(answer.size())) ? message : nullptr;
}

// What the message acknowledges (0) or refuses; empty: it is another one.
std::optional<int> outcome_of(const nlmsghdr& message) {
  if (message.nlmsg_type != NLMSG_ERROR || message.nlmsg_len < NLMSG_LENGTH(sizeof(nlmsgerr))) return {};
  return -static_cast<const nlmsgerr*>(NLMSG_DATA(&message))->error;
}

HostRoute read_route(std::span<const std::byte> answer) {
  const nlmsghdr* const message = message_of(answer);
  if (message == nullptr) return {.error = EPROTO};
  if (const std::optional<int> outcome = outcome_of(*message))
    return {.error = *outcome != 0 ? *outcome : EPROTO};
  if (message->nlmsg_type != RTM_NEWROUTE || message->nlmsg_len < NLMSG_LENGTH(sizeof(rtmsg)))
    return {.error = EPROTO};
  const auto& route = *static_cast<const rtmsg*>(NLMSG_DATA(message));
  return {.error = error_of(route),
          .is_local = route.rtm_type == RTN_LOCAL,
          .interface = number_of<std::uint32_t>(attribute<rtmsg>(*message, RTA_OIF)),
          .source = gid_of(attribute<rtmsg>(*message, RTA_PREFSRC))};
}

}  // namespace

HostRoutes::HostRoutes()
    : socket_(socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE)) {
  if (!socket_) throw std::system_error(errno, std::generic_category(), "netlink: routes");
}

// The kernel answers before `send` returns.
int HostRoutes::ask(std::span<const std::byte> request, std::span<std::byte>& answer) const {
  while (recv(socket_.get(), answer.data(), answer.size(), MSG_DONTWAIT) > 0) {
  }
  if (send(socket_.get(), request.data(), request.size(), MSG_DONTWAIT) < 0) return errno;
  const ssize_t received = recv(socket_.get(), answer.data(), answer.size(), MSG_DONTWAIT);
  if (received <= 0) return received < 0 ? errno : EPROTO;
  answer = answer.first(static_cast<std::size_t>(received));
  return 0;
}

HostRoute HostRoutes::find(const wire::Gid& destination, std::uint32_t interface) const {
  auto request = begin_request<rtmsg>(RTM_GETROUTE, 0);
  request.body.rtm_family = family_of(destination);
  request.body.rtm_dst_len = static_cast<unsigned char>(8 * address_bytes(destination).size());
  add(request, RTA_DST, address_bytes(destination));
  if (interface != 0) add(request, RTA_OIF, std::as_bytes(std::span(&interface, 1)));
  alignas(nlmsghdr) std::array<std::byte, 8192> room;
  std::span<std::byte> answer(room);
  if (const int error = ask(bytes_of(request), answer)) return {.error = error};
  return read_route(answer);
}

int HostRoutes::look_for_neighbour(const wire::Gid& address, std::uint32_t interface) const {
  auto request = begin_request<ndmsg>(RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_ACK);
  request.body.ndm_family = family_of(address);
  request.body.ndm_ifindex = static_cast<int>(interface);
  request.body.ndm_flags = NTF_USE;
  add(request, NDA_DST, address_bytes(address));
  alignas(nlmsghdr) std::array<std::byte, 1024> room;
  std::span<std::byte> answer(room);
  if (const int error = ask(bytes_of(request), answer)) return error;
  const nlmsghdr* const message = message_of(answer);
  return message != nullptr ? outcome_of(*message).value_or(EPROTO) : EPROTO;
}

std::optional<wire::Gid> HostRoutes::source_for(const wire::Gid& destination, std::uint32_t interface) const {
  const HostRoute found = find(destination, interface);
  return found.error != 0 || found.source == wire::Gid{} ? std::nullopt : std::optional(found.source);
}

}  // namespace urnic::control
