#include "device_model/control/netlink/message_reader.hpp"

#include <algorithm>
#include <cstring>

namespace urnic::control::netlink {
namespace {

// Takes `length` bytes and their padding off the front.
std::span<const std::byte> take(std::span<const std::byte>& bytes, std::size_t length) {
  const auto taken = bytes.first(length);
  bytes = bytes.subspan(std::min<std::size_t>(NLMSG_ALIGN(length), bytes.size()));
  return taken;
}

}  // namespace

std::optional<Message> take_message(std::span<const std::byte>& datagram) {
  Message message;
  if (datagram.size() < sizeof message.header) return std::nullopt;
  std::memcpy(&message.header, datagram.data(), sizeof message.header);
  const std::size_t length = message.header.nlmsg_len;
  if (length < sizeof message.header || length > datagram.size()) return std::nullopt;
  message.payload = take(datagram, length).subspan(sizeof message.header);
  return message;
}

std::optional<Attributes> Attributes::parse(std::span<const std::byte> payload) {
  Attributes attributes;
  while (!payload.empty()) {
    nlattr header{};
    if (payload.size() < sizeof header) return std::nullopt;
    std::memcpy(&header, payload.data(), sizeof header);
    if (header.nla_len < sizeof header || header.nla_len > payload.size()) return std::nullopt;
    const auto value = take(payload, header.nla_len).subspan(sizeof header);
    const std::uint16_t type = header.nla_type & NLA_TYPE_MASK;
    if (type < attributes.values_.size()) attributes.values_[type] = value;
  }
  return attributes;
}

std::optional<std::uint32_t> Attributes::number(std::uint16_t type) const {
  std::uint32_t value = 0;
  if (!has(type) || values_[type].size() != sizeof value) return std::nullopt;
  std::memcpy(&value, values_[type].data(), sizeof value);
  return value;
}

std::optional<std::string_view> Attributes::text(std::uint16_t type) const {
  if (!has(type)) return std::nullopt;
  const std::string_view text(reinterpret_cast<const char*>(values_[type].data()), values_[type].size());
  return text.substr(0, text.find('\0'));
}

}  // namespace urnic::control::netlink
