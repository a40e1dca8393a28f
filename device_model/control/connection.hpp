// One program's connection to one device: messages in, replies out, and the end of its objects when it
// closes.
#pragma once

#include <functional>

#include "device_model/control/descriptor_disposal.hpp"
#include "device_model/control/dispatch.hpp"
#include "device_model/control/event_loop.hpp"
#include "device_model/control/session.hpp"

namespace urnic::control {

class Connection {
 public:
  // Calls `handled` after each message, and `closed` (once, the last thing it does) when the program is gone
  // or has sent nonsense; the owner destroys the connection then.
  // `disposal` closes what the program sends and nobody needs, and the socket.
  Connection(EventLoop& loop, DescriptorDisposal& disposal, memory::Descriptor socket, Session session,
             std::function<void()> handled, std::function<void()> closed);
  ~Connection();

 private:
  void ready(std::uint32_t events);
  // False: close.
  bool handle_one();
  bool handle(Message& message);

  DescriptorDisposal& disposal_;
  const pid_t sender_;
  memory::Descriptor socket_;
  Session session_;
  std::function<void()> handled_;
  std::function<void()> closed_;
  ScopedWatch watch_;
};

}  // namespace urnic::control
