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

}  // namespace

HostRoutes::HostRoutes()
    : socket_(socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE)) {
  if (!socket_) throw std::system_error(errno, std::generic_category(), "netlink: routes");
}

// The kernel answers before `send` returns.
std::optional<wire::Gid> HostRoutes::source_for(const wire::Gid& destination, std::uint32_t interface) const {
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
  if (send(socket_.get(), &request, request.header.nlmsg_len, MSG_DONTWAIT) < 0) return {};
  const ssize_t received = recv(socket_.get(), answer.data(), answer.size(), MSG_DONTWAIT);
  const auto* const message = reinterpret_cast<const nlmsghdr*>(answer.data());
  if (received <= 0 || !NLMSG_OK(message, static_cast<unsigned>(received)) ||
      message->nlmsg_type != RTM_NEWROUTE)
    return {};
  const wire::Gid source = gid_of(attribute<rtmsg>(*message, RTA_PREFSRC));
  return source == wire::Gid{} ? std::nullopt : std::optional(source);
}

}  // namespace urnic::control
