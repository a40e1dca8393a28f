// From the bytes of a control message to its handler and back to the bytes of the reply. Free of sockets, so
// that it can be fed anything.
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
  std::vector<int> descriptors;  // go along; they stay their owners'

  std::span<const std::byte> bytes() const { return std::span(storage).first(length); }
};

enum class Dispatched : std::uint8_t {
  answered,  // if the reply has a length
  not_yet,   // a portion of the work is done: to be called again with the same message
  nonsense,  // the header is wrong: the connection is to be closed
};

// Handles one message as it came from a program, its descriptors with it. Everything that is wrong with it,
// but for its header, becomes an error in the reply. Descriptors that nobody needs stay in `message`: closing
// one may block, so the caller decides where that happens.
Dispatched dispatch(Session& session, Message& message, Reply& reply);

}  // namespace urnic::control
