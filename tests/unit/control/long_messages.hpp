// Messages of subnet administration, and their segments.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <vector>

#include "device_model/control/umad/rmpp_exchanges.hpp"

namespace urnic::control::test {

using namespace std::chrono_literals;
using wire::mad::Mad;
using wire::mad::MadHeader;
using wire::mad::ManagementClass;
using wire::mad::Method;
using wire::mad::RmppHeader;
using wire::mad::RmppStatus;
using wire::mad::RmppType;
using Time = RmppExchanges::Clock::time_point;

inline constexpr std::size_t kOffset = 56;  // of subnet administration's data
inline constexpr std::size_t kRoom = 200;   // data in each of its segments
inline constexpr auto kGetTable = Method{0x12};
inline constexpr auto kGetTableResponse = Method{0x92};
inline constexpr auto kGetMulti = Method{0x14};

inline Mad with_header(Method method, std::uint64_t transaction = 7) {
  Mad mad{};
  encode(MadHeader{.management_class = ManagementClass::subnet_administration,
                   .class_version = 2,
                   .method = method,
                   .transaction = {transaction}},
         mad);
  encode(RmppHeader{.active = true}, mad);
  return mad;
}

// Headers, and data that tell where they belong.
inline std::vector<std::byte> message_of(std::size_t data, Method method = kGetTableResponse) {
  const Mad mad = with_header(method);
  std::vector<std::byte> message(mad.begin(), mad.begin() + kOffset);
  for (std::size_t i = 0; i < data; ++i) message.push_back(static_cast<std::byte>(i * 7 + i / 256));
  return message;
}

inline std::vector<std::byte> data_of(const std::vector<std::byte>& message) {
  return {message.begin() + kOffset, message.end()};
}

inline RmppHeader rmpp_of(const Mad& mad) {
  RmppHeader header;
  decode(mad, header);
  return header;
}

inline MadHeader header_of_mad(const Mad& mad) {
  MadHeader header;
  decode(mad, header);
  return header;
}

inline std::vector<Mad> all_of(RmppSender& sender, Time now) {
  std::vector<Mad> sent;
  while (const auto mad = sender.next(now)) sent.push_back(*mad);
  return sent;
}

// The segments of a message as a sender with a window for all would send them.
inline std::vector<Mad> segments_of(std::size_t data) {
  RmppSender sender(message_of(data), {.window = 100000}, {});
  return all_of(sender, {});
}

inline RmppReply take(RmppReceiver& receiver, const Mad& mad, Time now = {}) {
  return receiver.take(rmpp_of(mad), mad, true, now);
}

}  // namespace urnic::control::test
