// The control socket to the device process: one request, one reply (device_model/abi/control.hpp). Knows
// messages and descriptors, but not their meaning.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device_model/abi/control.hpp"
#include "provider/freestanding/descriptor.hpp"

namespace urnic::provider {

// Descriptors that came with a reply, in order. The destructor closes those not taken.
class ReceivedDescriptors {
 public:
  static constexpr std::size_t kCapacity = 4;

  // The next one; invalid when there are no more.
  Descriptor take() {
    return next_ < count_ ? static_cast<Descriptor&&>(descriptors_[next_++]) : Descriptor{};
  }
  // Takes ownership of `number`; closes it if kCapacity descriptors are there.
  void add(int number);

 private:
  Descriptor descriptors_[kCapacity];
  std::size_t count_ = 0;
  std::size_t next_ = 0;
};

struct ControlRequest {
  abi::ControlOpcode opcode;
  const void* body;
  std::size_t body_size;
  const int* descriptors = nullptr;  // sent along; they stay the caller's
  std::size_t descriptor_count = 0;
  void* reply;  // written only on success
  std::size_t reply_size;
};

class ControlConnection {
 public:
  // Borrows `socket`, which must stay open while requests are made. If the process at its other end is
  // another user's, every request fails with EACCES: a request may carry descriptors of this program's
  // memory.
  void use(int socket);
  int socket() const { return socket_; }

  // Sends the request and waits for its reply. 0, or an errno: the device's, or EPIPE if the connection has
  // ended or the reply is malformed. One caller at a time.
  int exchange(const ControlRequest& request, ReceivedDescriptors& received);
  // Sends a request that has no reply. 0 or an errno.
  int announce(const ControlRequest& request) { return send(request); }

 private:
  int send(const ControlRequest& request);
  int receive(const ControlRequest& request, ReceivedDescriptors& received);

  int socket_ = -1;
  bool trusted_ = false;
  std::uint32_t sequence_ = 0;
};

// Opens a new connection to the device process at the other end of `existing`. 0 or an errno.
int connect_to_same_device(int existing, Descriptor& connection);

// Whether the other end of `socket` is closed. Does not wait, and consumes no data.
bool peer_has_closed(int socket);

}  // namespace urnic::provider
