// Requests of NETLINK_RDMA, and their answers, without a socket.
#pragma once

#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "device_model/control/netlink/answers.hpp"

namespace urnic::control::test {

using Bytes = std::vector<std::byte>;

inline constexpr std::uint16_t kDump = NLM_F_REQUEST | NLM_F_DUMP;

inline void append(Bytes& bytes, const void* data, std::size_t length) {
  const auto* const from = static_cast<const std::byte*>(data);
  bytes.insert(bytes.end(), from, from + length);
  bytes.resize((bytes.size() + 3) / 4 * 4);
}

// A message under way: header and attributes, as a program makes them.
class NetlinkRequest {
 public:
  explicit NetlinkRequest(std::uint32_t command, std::uint16_t flags = NLM_F_REQUEST) {
    const nlmsghdr header{0, netlink::message_type(command), flags, 77, 4711};
    append(bytes_, &header, sizeof header);
  }
  NetlinkRequest& with(std::uint16_t type, std::uint32_t value) { return with(type, &value, sizeof value); }
  NetlinkRequest& with(std::uint16_t type, const std::string& text) {
    return with(type, text.c_str(), text.size() + 1);
  }
  NetlinkRequest& with(std::uint16_t type, const void* value, std::size_t length) {
    const nlattr header{static_cast<std::uint16_t>(sizeof header + length), type};
    append(bytes_, &header, sizeof header);
    append(bytes_, value, length);
    return *this;
  }
  Bytes bytes() const {
    Bytes bytes = bytes_;
    const auto length = static_cast<std::uint32_t>(bytes.size());
    std::memcpy(bytes.data(), &length, sizeof length);
    return bytes;
  }

 private:
  Bytes bytes_;
};

// Attributes in the order in which they come, of a message or of a table.
class ReadAttributes {
 public:
  explicit ReadAttributes(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      nlattr header{};
      if (bytes.size() < sizeof header) throw std::runtime_error("bytes behind the last attribute");
      std::memcpy(&header, bytes.data(), sizeof header);
      if (header.nla_len < sizeof header || header.nla_len > bytes.size())
        throw std::runtime_error("an attribute's length is wrong");
      all_.emplace_back(header.nla_type, bytes.subspan(sizeof header, header.nla_len - sizeof header));
      bytes = bytes.subspan(std::min<std::size_t>(NLMSG_ALIGN(header.nla_len), bytes.size()));
    }
  }
  bool has(std::uint16_t type) const {
    for (const auto& each : all_)
      if (each.first == type) return true;
    return false;
  }
  std::span<const std::byte> bytes(std::uint16_t type) const {
    for (const auto& each : all_)
      if (each.first == type) return each.second;
    throw std::runtime_error("attribute " + std::to_string(type) + " is missing");
  }
  template <class Value = std::uint32_t>
  Value number(std::uint16_t type) const {
    Value value{};
    if (bytes(type).size() != sizeof value) throw std::runtime_error("a number of another size");
    std::memcpy(&value, bytes(type).data(), sizeof value);
    return value;
  }
  std::string text(std::uint16_t type) const {
    const auto value = bytes(type);
    if (value.empty() || value.back() != std::byte{0}) throw std::runtime_error("a text without NUL");
    return reinterpret_cast<const char*>(value.data());
  }
  ReadAttributes table(std::uint16_t type) const { return ReadAttributes(bytes(type)); }
  // The tables of that type.
  std::vector<ReadAttributes> entries(std::uint16_t type) const {
    std::vector<ReadAttributes> entries;
    for (const auto& each : all_)
      if (each.first == type) entries.emplace_back(each.second);
    return entries;
  }

 private:
  std::vector<std::pair<std::uint16_t, std::span<const std::byte>>> all_;
};

struct ReadMessage {
  nlmsghdr header{};
  Bytes payload;
  ReadAttributes attributes() const { return ReadAttributes(payload); }
};

// All messages in a datagram, whose lengths must be right.
inline std::vector<ReadMessage> read_messages(std::span<const std::byte> datagram) {
  std::vector<ReadMessage> messages;
  while (const auto message = netlink::take_message(datagram))
    messages.push_back({message->header, Bytes(message->payload.begin(), message->payload.end())});
  if (!datagram.empty()) throw std::runtime_error("bytes behind the last message");
  return messages;
}

struct Conversation {
  int error = 0;
  std::vector<ReadMessage> messages;
  std::size_t portions = 0;  // of a dump
};

// The messages that answer the first message of `request`, without the result and the end of a dump.
inline Conversation converse(const netlink::Subjects& subjects, std::span<const std::byte> request) {
  Conversation conversation;
  const auto message = netlink::take_message(request);
  if (!message) throw std::runtime_error("no message");
  const auto read = [&](const netlink::DatagramWriter& datagram) {
    for (auto& each : read_messages(datagram.bytes())) conversation.messages.push_back(std::move(each));
  };
  netlink::DatagramWriter datagram;
  const netlink::Answered answered = netlink::answer(subjects, *message, datagram);
  conversation.error = answered.error;
  read(datagram);
  for (bool more = answered.dump != nullptr; more;) {
    datagram.cut_back(0);
    more = answered.dump->write(datagram);
    ++conversation.portions;
    if (!datagram.fits()) throw std::runtime_error("a message is cut");
    read(datagram);
  }
  if (answered.dump != nullptr) conversation.error = answered.dump->result().value_or(0);
  return conversation;
}

}  // namespace urnic::control::test
