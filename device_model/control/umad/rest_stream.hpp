// What of a long packet does not go through a umad node's socket, on its way to the program: through a stream
// socket of its own, whose other end goes with the packet (abi/umad_messages.hpp).
//
// The message stays in this process's memory, and on the program's account, until the program has read it.
// What the kernel keeps meanwhile is bounded by the stream's buffer; and nothing is left in it afterwards,
// whoever still has the descriptor: threads, children of fork, a program that never closes one.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "device_model/control/loop/event_loop.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::control {

class RestStream {
 public:
  // The bytes of `message` from `begin` on. Calls `ready` when `leave` can go on; that may destroy this
  // object. Throws std::system_error.
  RestStream(EventLoop& loop, std::vector<std::byte> message, std::size_t begin, std::function<void()> ready);

  // The program's end, to be sent to it, and closed.
  memory::Descriptor take_end() { return std::move(theirs_); }
  // If that has failed: nothing is sent then.
  std::vector<std::byte> take_message() { return std::move(message_); }
  std::size_t held() const { return message_.capacity(); }

  // Sends as much as the program's end takes, but not more than a portion at once. True: it is over. The
  // program has read all, or nobody has its end any more.
  bool leave();

 private:
  bool is_empty() const;

  std::vector<std::byte> message_;
  std::size_t sent_;
  memory::Descriptor own_;
  memory::Descriptor theirs_;
  ScopedWatch watch_;
};

}  // namespace urnic::control
