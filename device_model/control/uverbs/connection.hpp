// A program's connection to one device: receives messages, sends replies, and destroys the program's objects
// when closed.
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
  // Calls `handled` after each message, and `closed` once, as its last action, when the program is gone or
  // has sent a malformed message; the owner then destroys the connection. `disposal` closes the socket and
  // unused descriptors from the program.
  Connection(EventLoop& loop, DescriptorDisposal& disposal, memory::Descriptor socket, Session session,
             std::function<void()> handled, std::function<void()> closed);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // The context to be destroyed, if no other connection has it; else null.
  std::shared_ptr<Context> take_context();
  const std::shared_ptr<Account>& account() const { return session_.account; }

 private:
  void ready(std::uint32_t events);
  void close();
  // These return false if the connection must be closed.
  bool handle_one();
  bool receive_and_handle(Message& message);
  bool answer(const Reply& reply);

  void put_aside(Message&& message);
  // Does another portion of the unfinished request; returns whether more is left.
  bool go_on();

  EventLoop& loop_;
  DescriptorDisposal& disposal_;
  const pid_t sender_;
  memory::Descriptor socket_;
  Session session_;
  std::function<void()> handled_;
  std::function<void()> closed_;
  ScopedWatch watch_;
  std::unique_ptr<Message> unfinished_;  // needs several portions of work
  WorkInPortions::Work work_;            // on the unfinished request
};

}  // namespace urnic::control
