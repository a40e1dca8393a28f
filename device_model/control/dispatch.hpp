// From the bytes of a control message to its handler and back to the bytes of the reply. Free of sockets, so
// that it can be fed anything.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "device_model/abi/control.hpp"
#include "device_model/control/message_socket.hpp"
#include "device_model/control/session.hpp"

namespace urnic::control {

struct Reply {
  alignas(8) std::array<std::byte, abi::kMaxControlMessage> storage;
  std::size_t length = 0;        // 0: the message has no reply
  std::vector<int> descriptors;  // go along; they stay their owners'

  std::span<const std::byte> bytes() const { return std::span(storage).first(length); }
};

// Handles one message as it came from a program, its descriptors with it. False if the header is nonsense:
// the connection is to be closed. Everything else that is wrong becomes an error in the reply. Descriptors
// that nobody needs stay in `message`: closing one may block, so the caller decides where that happens.
bool dispatch(Session& session, Message& message, Reply& reply);

}  // namespace urnic::control
