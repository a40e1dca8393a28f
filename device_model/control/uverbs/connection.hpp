// One program's connection to one device: messages in, replies out, and the end of its objects when it
// closes.
#pragma once

#include <functional>
#include <memory>

#include "device_model/control/loop/descriptor_disposal.hpp"
#include "device_model/control/loop/event_loop.hpp"
#include "device_model/control/uverbs/dispatch.hpp"
#include "device_model/control/uverbs/session.hpp"

namespace urnic::control {

class Connection {
 public:
  // Calls `handled` after each message, and `closed` (once, the last thing it does) when the program is gone
  // or has sent nonsense; the owner destroys the connection then.
  // `disposal` closes what the program sends and nobody needs, and the socket.
  Connection(EventLoop& loop, DescriptorDisposal& disposal, memory::Descriptor socket, Session session,
             std::function<void()> handled, std::function<void()> closed);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // The context, if no other connection has it: to be taken down. Else null.
  std::shared_ptr<Context> take_context();
  const std::shared_ptr<Account>& account() const { return session_.account; }

 private:
  void ready(std::uint32_t events);
  void close();
  // These return false if the connection is to be closed.
  bool handle_one();
  bool receive_and_handle(Message& message);
  bool answer(const Reply& reply);

  void put_aside(Message&& message);
  // Another portion of the unfinished request; whether there is more to do.
  bool go_on();

  EventLoop& loop_;
  DescriptorDisposal& disposal_;
  const pid_t sender_;
  memory::Descriptor socket_;
  Session session_;
  std::function<void()> handled_;
  std::function<void()> closed_;
  ScopedWatch watch_;
  std::unique_ptr<Message> unfinished_;  // a message whose request takes several portions of work
  WorkInPortions::Work work_;            // on it
};

}  // namespace urnic::control
