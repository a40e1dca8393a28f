// A guest's connection to the mux.
#pragma once

#include <cstddef>
#include <optional>
#include <set>

#include "device_model/memory/descriptor.hpp"
#include "tools/pvrdma_mux/mux_message.hpp"

namespace urnic::pvrdma_mux {

class Guest {
 public:
  // Takes the connection.
  explicit Guest(memory::Descriptor socket) : socket_(std::move(socket)) {}

  int descriptor() const { return socket_.get(); }

  // The next whole message; empty: there is none yet, or the guest has gone.
  std::optional<MuxMessage> next();
  bool has_gone() const { return gone_; }
  // Whether a request has arrived that has not been read yet: QEMU waits for its answer, and would take any
  // other message for it.
  bool is_waiting() const;
  // QEMU reads whole messages: one that it does not take at once is lost, as a datagram is.
  void send(const MuxMessage& message);

  std::set<wire::Gid> own;  // its addresses

 private:
  memory::Descriptor socket_;
  MuxMessage partial_;
  std::size_t received_ = 0;
  bool gone_ = false;
};

}  // namespace urnic::pvrdma_mux
