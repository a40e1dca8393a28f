// What the tests of management datagrams share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <stdexcept>
#include <string_view>
#include <tuple>

#include "wire/mad/cm_messages.hpp"

namespace urnic::wire::mad {

// Lets Boost.Test print what a decoder returned.
inline std::ostream& operator<<(std::ostream& out, MadError error) { return out << describe(error); }

}  // namespace urnic::wire::mad

namespace urnic::wire::mad::test {

// For BOOST_AUTO_TEST_CASE_TEMPLATE.
using CmTypes = std::tuple<Req, Mra, Rej, Rep, Rtu, Dreq, Drep, SidrReq, SidrRep, Lap, Apr>;

inline constexpr TransactionId kTransaction{0x1122334455667788};

// A CM datagram of `Message` whose body is `fill` throughout.
template <class Message>
Mad filled(std::byte fill) {
  Mad mad = encode(Message{}, kTransaction);
  std::fill(mad.begin() + kMadHeaderBytes, mad.end(), fill);
  return mad;
}

template <class Message>
Message decoded(const Mad& mad) {
  Message message;
  if (decode(mad, message) != MadError::none) throw std::runtime_error(describe(decode(mad, message)));
  return message;
}

// Whether private data or information begins with `text` and goes on with zeros.
template <class Bytes>
bool holds(const Bytes& bytes, std::string_view text) {
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    if (bytes[at] != static_cast<std::byte>(at < text.size() ? text[at] : 0)) return false;
  }
  return true;
}

}  // namespace urnic::wire::mad::test
