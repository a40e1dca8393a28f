// Finds the handler of a control message, calls it, and encodes the reply. Has no sockets, so that any bytes
// can be passed in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "device_model/abi/control.hpp"
#include "device_model/control/loop/message_socket.hpp"
#include "device_model/control/uverbs/session.hpp"

namespace urnic::control {

struct Reply {
  alignas(8) std::array<std::byte, abi::kMaxControlMessage> storage;
  std::size_t length = 0;        // 0: the message has no reply
  std::vector<int> descriptors;  // sent along; owned elsewhere

  std::span<const std::byte> bytes() const { return std::span(storage).first(length); }
};

enum class Dispatched : std::uint8_t {
  answered,  // if the reply has a length
  not_yet,   // a portion of the work is done: call again with the same message
  nonsense,  // the header is wrong: close the connection
};

// Handles one message from a program, with its descriptors. Any fault except in the header becomes an error
// in the reply. Unused descriptors stay in `message`: closing one may block, so the caller decides where to
// do it.
Dispatched dispatch(Session& session, Message& message, Reply& reply);

}  // namespace urnic::control
