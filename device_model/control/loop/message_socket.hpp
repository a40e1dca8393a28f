// Receives and sends one message of the control protocol, with its descriptors, on a SOCK_SEQPACKET socket.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "device_model/abi/control.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::control {

// Descriptors in one message at most.
inline constexpr std::size_t kMaxMessageDescriptors = 8;
// The kernel's limit for one message (SCM_MAX_FD). If the receiver has no room for them all, the kernel
// closes the rest in the receiver's thread, which may block.
inline constexpr std::size_t kMaxSentDescriptors = 253;

struct Message {
  alignas(8) std::array<std::byte, abi::kMaxControlMessage> storage;
  std::size_t length = 0;
  std::vector<memory::Descriptor> descriptors;

  std::span<const std::byte> bytes() const { return std::span(storage).first(length); }
};

enum class ReceiveResult {
  message,
  nothing,   // no message is there
  closed,    // the peer is gone
  unusable,  // too long, or too many descriptors: close the connection
};

// As recvmsg: receives bytes and appends their descriptors to `descriptors`. `flags`: those of the message.
ssize_t receive_bytes(int socket, std::span<std::byte> bytes, std::vector<memory::Descriptor>& descriptors,
                      int& flags);

// Never blocks. Unless it returns `message`, only the descriptors in `message` are valid: they have arrived,
// and closing one may block, so the caller decides where to do it.
ReceiveResult receive_message(int socket, Message& message);

// Sends without blocking; false (with errno) if the peer is gone or does not read its answers. `descriptors`
// belong to the caller.
bool send_message(int socket, std::span<const std::byte> bytes, std::span<const int> descriptors);

// Whether a descriptor that a program has sent is a socket. The file behind any other is not asked: it might
// never answer.
bool is_socket(int descriptor);

}  // namespace urnic::control
