// The socket on which a provider asks the device process for objects: one request, one answer (device_model/
// abi/control.hpp). Knows messages and descriptors, not what they mean.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device_model/abi/control.hpp"
#include "provider/plugin/freestanding/descriptor.hpp"

namespace urnic::provider {

// Descriptors that came with an answer, in order. Those not taken are closed.
class ReceivedDescriptors {
 public:
  static constexpr std::size_t kCapacity = 4;

  // The next one; invalid when there are no more.
  Descriptor take() {
    return next_ < count_ ? static_cast<Descriptor&&>(descriptors_[next_++]) : Descriptor{};
  }
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
  // Borrows `socket`, which must stay open for as long as requests are made. To a process of another user no
  // request is sent, for it might carry descriptors of this program's memory: each fails with EACCES.
  void use(int socket);
  int socket() const { return socket_; }

  // Sends the request and waits for its answer. 0, or an errno: the device's own answer, or EPIPE when there
  // is nobody (or no sense) at the other end any more. Callers take turns.
  int exchange(const ControlRequest& request, ReceivedDescriptors& received);
  // Sends a request that is not answered. 0 or an errno.
  int announce(const ControlRequest& request) { return send(request); }

 private:
  int send(const ControlRequest& request);
  int receive(const ControlRequest& request, ReceivedDescriptors& received);

  int socket_ = -1;
  bool trusted_ = false;
  std::uint32_t sequence_ = 0;
};

// A new connection to the device process at the other end of `existing`. 0 or an errno.
int connect_to_same_device(int existing, Descriptor& connection);

// Whether the other end of `socket` is known to be closed, without waiting and without taking anything from
// it.
bool peer_has_closed(int socket);

}  // namespace urnic::provider
