// One message of the control protocol with the descriptors that travel with it, in and out of a
// SOCK_SEQPACKET socket.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "device_model/abi/control.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::control {

// The most descriptors that one message carries.
inline constexpr std::size_t kMaxMessageDescriptors = 8;

struct Message {
  alignas(8) std::array<std::byte, abi::kMaxControlMessage> storage;
  std::size_t length = 0;
  std::vector<memory::Descriptor> descriptors;

  std::span<const std::byte> bytes() const { return std::span(storage).first(length); }
};

enum class ReceiveResult {
  message,
  nothing,   // no message is waiting
  closed,    // the peer is gone
  unusable,  // longer than a message may be, or descriptors were lost: the connection cannot be trusted
};

// Never blocks. On anything but `message` the contents of `message` mean nothing.
ReceiveResult receive_message(int socket, Message& message);

// Sends without blocking; false (with errno set) if the peer is gone or does not read its answers.
// `descriptors` stay the caller's.
bool send_message(int socket, std::span<const std::byte> bytes, std::span<const int> descriptors);

}  // namespace urnic::control
