// One message of the control protocol with the descriptors that travel with it, in and out of a
// SOCK_SEQPACKET socket.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "device_model/abi/control.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::control {

// The most descriptors that one message carries.
inline constexpr std::size_t kMaxMessageDescriptors = 8;
// The most that the kernel lets one carry (SCM_MAX_FD). What a receiver leaves no room for is closed by the
// kernel in the receiver's thread, and may block it.
inline constexpr std::size_t kMaxSentDescriptors = 253;

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
  unusable,  // longer than a message may be, or with too many descriptors: the connection cannot be trusted
};

// recvmsg of bytes and of all descriptors that are with them, which are added to `descriptors`. Returns what
// recvmsg does; `flags` are those of the message.
ssize_t receive_bytes(int socket, std::span<std::byte> bytes, std::vector<memory::Descriptor>& descriptors,
                      int& flags);

// Never blocks. On anything but `message` the contents of `message` mean nothing, but the descriptors that
// have come are in it all the same: closing one may block, so the caller decides where that happens.
ReceiveResult receive_message(int socket, Message& message);

// Sends without blocking; false (with errno set) if the peer is gone or does not read its answers.
// `descriptors` stay the caller's.
bool send_message(int socket, std::span<const std::byte> bytes, std::span<const int> descriptors);

}  // namespace urnic::control
