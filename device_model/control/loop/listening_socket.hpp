// A Unix socket that accepts connections from this user's programs only (trust/peer.hpp).
#pragma once

#include <filesystem>
#include <functional>

#include "device_model/control/loop/descriptor_disposal.hpp"
#include "device_model/control/loop/event_loop.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::control {

class ListeningSocket {
 public:
  // `type` is SOCK_SEQPACKET or SOCK_STREAM; `path` is absolute and must not exist. Calls `accepted` with
  // each connection. `disposal` closes rejected connections. Throws std::system_error.
  ListeningSocket(EventLoop& loop, DescriptorDisposal& disposal, const std::filesystem::path& path, int type,
                  std::function<void(memory::Descriptor)> accepted);
  ~ListeningSocket();

  int descriptor() const { return socket_.get(); }

 private:
  void accept_one();
  void turn_away(memory::Descriptor connection);

  DescriptorDisposal& disposal_;
  memory::Descriptor socket_;
  // Released when no descriptors are left, so that a connection can be accepted and rejected: a waiting one
  // would keep the loop spinning.
  memory::Descriptor reserve_;
  std::function<void(memory::Descriptor)> accepted_;
  ScopedWatch watch_;
};

}  // namespace urnic::control
