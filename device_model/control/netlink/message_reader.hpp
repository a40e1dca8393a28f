// Requests of programs: netlink messages and their attributes (netlink(7)), which may be any bytes.
#pragma once

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace urnic::control::netlink {

struct Message {
  nlmsghdr header{};
  std::span<const std::byte> payload;
};

// Takes the next message off `datagram`, and the padding behind it. Empty, and nothing is taken, at the end
// and if the message's length is less than its header's or more than the rest: Linux drops the rest without a
// word.
std::optional<Message> take_message(std::span<const std::byte>& datagram);

// The attributes of a message, by type (RDMA_NLDEV_ATTR_…). Views into the message's bytes.
class Attributes {
 public:
  // Empty: an attribute's length is less than its header's or more than the rest. Unknown types are left out;
  // of several attributes of a type the last one counts, as in Linux.
  static std::optional<Attributes> parse(std::span<const std::byte> payload);

  bool has(std::uint16_t type) const { return values_[type].data() != nullptr; }
  // Empty: there is none, or it has another length.
  std::optional<std::uint32_t> number(std::uint16_t type) const;
  // Up to its first NUL. Empty: there is none.
  std::optional<std::string_view> text(std::uint16_t type) const;

 private:
  std::array<std::span<const std::byte>, RDMA_NLDEV_ATTR_MAX> values_{};
};

}  // namespace urnic::control::netlink
