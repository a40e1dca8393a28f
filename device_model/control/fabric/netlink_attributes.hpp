// Attributes of the kernel's routing messages (rtnetlink(7)), and IP addresses in them.
#pragma once

#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include <cstddef>
#include <cstring>
#include <span>

#include "wire/identifiers.hpp"

namespace urnic::control {

// The attribute of a message whose header of type `Header` its attributes follow; empty if there is none.
template <typename Header>
std::span<const std::byte> attribute(const nlmsghdr& message, unsigned short wanted) {
  const auto* at = reinterpret_cast<const std::byte*>(&message) + NLMSG_LENGTH(NLMSG_ALIGN(sizeof(Header)));
  const std::byte* const end = reinterpret_cast<const std::byte*>(&message) + message.nlmsg_len;
  rtattr head;
  for (; at + sizeof head <= end; at += RTA_ALIGN(head.rta_len)) {
    std::memcpy(&head, at, sizeof head);
    if (head.rta_len < sizeof head || at + head.rta_len > end) return {};
    if (head.rta_type == wanted) return {at + RTA_LENGTH(0), head.rta_len - RTA_LENGTH(0)};
  }
  return {};
}

// Of 4 or 16 bytes; any other length gives the unspecified address.
inline wire::Gid gid_of(std::span<const std::byte> address) {
  wire::Gid gid;
  if (address.size() != 4 && address.size() != gid.bytes.size()) return gid;
  if (address.size() == 4) gid.bytes[10] = gid.bytes[11] = 0xFF;
  std::memcpy(gid.bytes.data() + gid.bytes.size() - address.size(), address.data(), address.size());
  return gid;
}

}  // namespace urnic::control
