// Requests on a context's control connection, with what a context adds to a bare exchange: threads take
// turns, a forked child gets a connection of its own, and a connection that ends is the device's death.
#pragma once

#include "provider/plugin/connection/context.hpp"

namespace urnic::provider {

// The right to make requests on a context; ranges of arenas are looked up while it is held, so that no other
// thread's answer comes between.
class ControlSession {
 public:
  explicit ControlSession(Context& context) : context_(context), lock_(context.control_lock) {}

  // 0 or an errno; EIO when the device process is dead.
  template <typename Request, typename Reply>
  int call(abi::ControlOpcode opcode, const Request& request, Reply& reply) {
    return exchange({opcode, &request, sizeof request, nullptr, 0, &reply, sizeof reply});
  }

  // The same with a descriptor that is sent along.
  template <typename Request, typename Reply>
  int call(abi::ControlOpcode opcode, const Request& request, Reply& reply, int descriptor) {
    return exchange({opcode, &request, sizeof request, &descriptor, 1, &reply, sizeof reply});
  }

  // The first byte of a range that the last answer named, or null: see ArenaTable::find.
  void* find(const abi::ArenaRange& range) { return context_.arenas.find(range, received_); }

 private:
  int exchange(const ControlRequest& request);

  Context& context_;
  Lock lock_;
  ReceivedDescriptors received_;
};

template <typename Request, typename Reply>
int call(Context& context, abi::ControlOpcode opcode, const Request& request, Reply& reply) {
  return ControlSession(context).call(opcode, request, reply);
}

// A request about one object, whose answer says no more than whether it worked.
inline int call(Context& context, abi::ControlOpcode opcode, std::uint32_t handle) {
  abi::Empty reply;
  return call(context, opcode, abi::HandleRequest{handle, 0}, reply);
}

// As above for requests that give an object back: a dead device holds none any more, so that succeeds.
inline int release(Context& context, abi::ControlOpcode opcode, std::uint32_t handle) {
  const int error = call(context, opcode, handle);
  return error == EIO && is_dead(context) ? 0 : error;
}

}  // namespace urnic::provider
