// Messages of the control protocol on a socket, as tests send and receive them: any bytes, any descriptors.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "device_model/abi/control.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::apps {

struct ControlReply {
  abi::ReplyHeader header{};
  std::vector<std::byte> body;
  std::vector<memory::Descriptor> descriptors;

  // The reply's body; members beyond its end are zero.
  template <typename Body>
  Body as() const {
    Body result{};
    std::memcpy(&result, body.data(), std::min(body.size(), sizeof result));
    return result;
  }
};

// A request's bytes: a valid header for `opcode`, and the body.
std::vector<std::byte> control_message(std::uint32_t opcode, std::span<const std::byte> body,
                                       std::uint32_t sequence);

inline std::vector<std::byte> control_message(abi::ControlOpcode opcode, std::span<const std::byte> body,
                                              std::uint32_t sequence) {
  return control_message(static_cast<std::uint32_t>(opcode), body, sequence);
}

// Sends one message with up to 253 descriptors, which stay the caller's. `flags` as for sendmsg(2). False: it
// was not sent.
bool send_message(int socket, std::span<const std::byte> message, std::span<const int> descriptors,
                  int flags);

// The reply that waits at the socket. Empty: the connection is closed, or the message is no reply.
std::optional<ControlReply> receive_reply(int socket);

}  // namespace urnic::apps
