// Requests to the kernel's routing family of netlink (rtnetlink(7)): interfaces, addresses, routes, rules.
#pragma once

#include <linux/netlink.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "device_model/memory/descriptor.hpp"
#include "wire/identifiers.hpp"

namespace urnic::control {

// One request: a header of the kernel's (ifinfomsg, rtmsg, …), then attributes. It has room for 512 bytes.
class RouteRequest {
 public:
  template <typename Header>
  RouteRequest(std::uint16_t type, std::uint16_t flags, const Header& header) {
    nlmsghdr& message = head();
    message.nlmsg_len = NLMSG_LENGTH(sizeof header);
    message.nlmsg_type = type;
    message.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | NLM_F_ACK | flags);
    std::memcpy(bytes_.data() + NLMSG_HDRLEN, &header, sizeof header);
  }

  RouteRequest& add(std::uint16_t type, std::span<const std::byte> value);
  RouteRequest& add(std::uint16_t type, std::uint32_t value) {
    return add(type, std::as_bytes(std::span(&value, 1)));
  }
  // The address itself: 4 or 16 bytes.
  RouteRequest& add(std::uint16_t type, const wire::Gid& address);

  // Attributes up to the matching `end` are inside of this one.
  std::size_t begin(std::uint16_t type);
  void end(std::size_t begun);

  std::span<const std::byte> bytes() const { return std::span(bytes_).first(head().nlmsg_len); }

 private:
  nlmsghdr& head() { return *reinterpret_cast<nlmsghdr*>(bytes_.data()); }
  const nlmsghdr& head() const { return *reinterpret_cast<const nlmsghdr*>(bytes_.data()); }

  alignas(nlmsghdr) std::array<std::byte, 512> bytes_{};
};

// Whether this kernel has the protocol family: IPv6 may be left out or turned off (ipv6.disable=1).
bool has_family(std::uint8_t family);

// A socket of the network namespace in which it was made. The kernel asks for CAP_NET_ADMIN there both of the
// process that made it and of the one that uses it; who owns the namespace's user namespace has it.
class RouteSocket {
 public:
  // Throws std::system_error.
  RouteSocket();
  explicit RouteSocket(memory::Descriptor made) : socket_(std::move(made)) {}
  memory::Descriptor release() && { return std::move(socket_); }

  // Sends the request and takes the kernel's answer. Throws std::system_error, whose text begins with `what`.
  void carry_out(const RouteRequest& request, const std::string& what) const;

 private:
  memory::Descriptor socket_;
};

}  // namespace urnic::control
