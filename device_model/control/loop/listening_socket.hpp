// A Unix socket that accepts connections from this user's programs, and nobody else's (trust/peer.hpp).
#pragma once

#include <filesystem>
#include <functional>

#include "device_model/control/loop/descriptor_disposal.hpp"
#include "device_model/control/loop/event_loop.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::control {

class ListeningSocket {
 public:
  // `type` is SOCK_SEQPACKET or SOCK_STREAM; `path` is absolute and not there yet. Calls `accepted` with each
  // connection. Throws std::system_error. `disposal` closes connections that are turned away.
  ListeningSocket(EventLoop& loop, DescriptorDisposal& disposal, const std::filesystem::path& path, int type,
                  std::function<void(memory::Descriptor)> accepted);
  ~ListeningSocket();

  int descriptor() const { return socket_.get(); }

 private:
  void accept_one();
  void turn_away(memory::Descriptor connection);

  DescriptorDisposal& disposal_;
  memory::Descriptor socket_;
  // Given up for a moment when there are no descriptors left, so that a connection can be taken and turned
  // away: left waiting, it would keep the loop spinning.
  memory::Descriptor reserve_;
  std::function<void(memory::Descriptor)> accepted_;
  ScopedWatch watch_;
};

}  // namespace urnic::control
