#include "device_model/control/network/route_request.hpp"

#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "wire/network_headers.hpp"

namespace urnic::control {

RouteRequest& RouteRequest::add(std::uint16_t type, std::span<const std::byte> value) {
  const std::size_t at = NLMSG_ALIGN(head().nlmsg_len);
  if (at + RTA_SPACE(value.size()) > bytes_.size()) throw std::length_error("netlink: request");
  const rtattr attribute{static_cast<std::uint16_t>(RTA_LENGTH(value.size())), type};
  std::memcpy(bytes_.data() + at, &attribute, sizeof attribute);
  if (!value.empty()) std::memcpy(bytes_.data() + at + RTA_LENGTH(0), value.data(), value.size());
  head().nlmsg_len = static_cast<std::uint32_t>(at + RTA_SPACE(value.size()));
  return *this;
}

RouteRequest& RouteRequest::add(std::uint16_t type, const wire::Gid& address) {
  return add(type, std::as_bytes(std::span(address.bytes)).last(wire::is_ipv4_mapped(address) ? 4 : 16));
}

std::size_t RouteRequest::begin(std::uint16_t type) {
  const std::size_t begun = NLMSG_ALIGN(head().nlmsg_len);
  add(type, std::span<const std::byte>());
  return begun;
}

void RouteRequest::end(std::size_t begun) {
  const auto length = static_cast<std::uint16_t>(head().nlmsg_len - begun);
  std::memcpy(bytes_.data() + begun + offsetof(rtattr, rta_len), &length, sizeof length);
}

bool has_family(std::uint8_t family) {
  return static_cast<bool>(memory::Descriptor(socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0)));
}

RouteSocket::RouteSocket() : socket_(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)) {
  if (!socket_) throw std::system_error(errno, std::generic_category(), "netlink");
}

void RouteSocket::carry_out(const RouteRequest& request, const std::string& what) const {
  const std::span<const std::byte> bytes = request.bytes();
  alignas(nlmsghdr) std::array<std::byte, 1024> answer;
  if (send(socket_.get(), bytes.data(), bytes.size(), 0) < 0 ||
      recv(socket_.get(), answer.data(), answer.size(), 0) < 0)
    throw std::system_error(errno, std::generic_category(), what);
  const auto* const message = reinterpret_cast<const nlmsghdr*>(answer.data());
  if (message->nlmsg_type != NLMSG_ERROR) throw std::runtime_error(what + ": the kernel gives no answer");
  const int error = static_cast<const nlmsgerr*>(NLMSG_DATA(message))->error;
  if (error != 0) throw std::system_error(-error, std::generic_category(), what);
}

}  // namespace urnic::control
