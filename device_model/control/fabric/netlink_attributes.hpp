// Attributes of the kernel's routing messages (rtnetlink(7)), and IP addresses in them.
#pragma once

#include <linux/netlink.h>
#include <linux/rtnetlink.h>

#include <cstddef>
#include <cstring>
#include <span>
#include <string>

#include "wire/identifiers.hpp"

namespace urnic::control {

// The attribute among those between `at` and `end`; empty if there is none.
inline std::span<const std::byte> find_attribute(const std::byte* at, const std::byte* end,
                                                 unsigned short wanted) {
  rtattr head;
  for (; at < end && static_cast<std::size_t>(end - at) >= sizeof head; at += RTA_ALIGN(head.rta_len)) {
    std::memcpy(&head, at, sizeof head);
    if (head.rta_len < sizeof head || head.rta_len > end - at) return {};
    if ((head.rta_type & NLA_TYPE_MASK) == wanted)
      return {at + RTA_LENGTH(0), head.rta_len - static_cast<std::size_t>(RTA_LENGTH(0))};
  }
  return {};
}

// The attribute of a message whose header of type `Header` its attributes follow; empty if there is none.
template <typename Header>
std::span<const std::byte> attribute(const nlmsghdr& message, unsigned short wanted) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(&message);
  return find_attribute(bytes + NLMSG_LENGTH(NLMSG_ALIGN(sizeof(Header))), bytes + message.nlmsg_len, wanted);
}

// The attribute inside of another one.
inline std::span<const std::byte> attribute(std::span<const std::byte> outer, unsigned short wanted) {
  return find_attribute(outer.data(), outer.data() + outer.size(), wanted);
}

// A number of the attribute's length, in its byte order; 0 if it has another length.
template <typename Number>
Number number_of(std::span<const std::byte> value) {
  Number number = 0;
  if (value.size() == sizeof number) std::memcpy(&number, value.data(), sizeof number);
  return number;
}

inline std::string text_of(std::span<const std::byte> value) {
  const std::string text(reinterpret_cast<const char*>(value.data()), value.size());
  return text.substr(0, text.find('\0'));
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
