#include "device_model/control/fabric/host_routes.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "device_model/control/fabric/netlink_attributes.hpp"
#include "wire/network_headers.hpp"

namespace urnic::control {
namespace {

struct Request {
  nlmsghdr header;
  rtmsg body;
  std::array<std::byte, 2 * RTA_SPACE(16)> attributes;
};

void add(Request& request, unsigned short type, std::span<const std::byte> value) {
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

HostRoute read_route(std::span<const std::byte> answer) {
  const auto* const message = reinterpret_cast<const nlmsghdr*>(answer.data());
  if (!NLMSG_OK(message, static_cast<unsigned>(answer.size()))) return {.error = EPROTO};
  if (message->nlmsg_type == NLMSG_ERROR && message->nlmsg_len >= NLMSG_LENGTH(sizeof(nlmsgerr))) {
    const int refused = -static_cast<const nlmsgerr*>(NLMSG_DATA(message))->error;
    return {.error = refused != 0 ? refused : EPROTO};
  }
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
HostRoute HostRoutes::find(const wire::Gid& destination, std::uint32_t interface) const {
  const bool ipv4 = wire::is_ipv4_mapped(destination);
  const std::size_t bytes = ipv4 ? 4 : 16;
  Request request{};
  request.header.nlmsg_len = NLMSG_LENGTH(sizeof request.body);
  request.header.nlmsg_type = RTM_GETROUTE;
  request.header.nlmsg_flags = NLM_F_REQUEST;
  request.body.rtm_family = ipv4 ? AF_INET : AF_INET6;
  request.body.rtm_dst_len = static_cast<unsigned char>(8 * bytes);
  add(request, RTA_DST, std::as_bytes(std::span(destination.bytes)).last(bytes));
  if (interface != 0) add(request, RTA_OIF, std::as_bytes(std::span(&interface, 1)));
  alignas(nlmsghdr) std::array<std::byte, 8192> answer;
  while (recv(socket_.get(), answer.data(), answer.size(), MSG_DONTWAIT) > 0) {
  }
  if (send(socket_.get(), &request, request.header.nlmsg_len, MSG_DONTWAIT) < 0) return {.error = errno};
  const ssize_t received = recv(socket_.get(), answer.data(), answer.size(), MSG_DONTWAIT);
  if (received <= 0) return {.error = received < 0 ? errno : EPROTO};
  return read_route(std::span(answer).first(static_cast<std::size_t>(received)));
}

std::optional<wire::Gid> HostRoutes::source_for(const wire::Gid& destination, std::uint32_t interface) const {
  const HostRoute found = find(destination, interface);
  return found.error != 0 || found.source == wire::Gid{} ? std::nullopt : std::optional(found.source);
}

}  // namespace urnic::control
