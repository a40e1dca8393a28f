// Requests on a context's control connection. Threads take turns, a forked child gets a connection of its
// own, and the end of the connection counts as the device's death.
#pragma once

#include "provider/plugin/connection/verbs_context.hpp"

namespace urnic::provider {

// Holds the context's control lock. Ranges of arenas must be looked up in the session of their reply, so that
// no other thread's reply comes between.
class ControlSession {
 public:
  explicit ControlSession(Context& context) : context_(context), lock_(context.control_lock) {}

  // 0 or an errno; EIO when the device process is dead.
  template <typename Request, typename Reply>
  int call(abi::ControlOpcode opcode, const Request& request, Reply& reply) {
    return exchange({opcode, &request, sizeof request, nullptr, 0, &reply, sizeof reply});
  }

  // The same; also sends `descriptor`, which stays the caller's.
  template <typename Request, typename Reply>
  int call(abi::ControlOpcode opcode, const Request& request, Reply& reply, int descriptor) {
    return exchange({opcode, &request, sizeof request, &descriptor, 1, &reply, sizeof reply});
  }

  // For a request that has no reply.
  template <typename Request>
  int announce(abi::ControlOpcode opcode, const Request& request) {
    return announce({opcode, &request, sizeof request, nullptr, 0, nullptr, 0});
  }

  // The next descriptor that came with the last reply.
  Descriptor take_descriptor() { return received_.take(); }

  // The first byte of a range in the last reply, or null: see ArenaTable::find.
  void* find(const abi::ArenaRange& range) { return context_.arenas.find(range, received_); }

 private:
  int exchange(const ControlRequest& request);
  int announce(const ControlRequest& request);
  int prepare();
  int outcome(int error);

  Context& context_;
  Lock lock_;
  ReceivedDescriptors received_;
};

// One request in a session of its own. 0 or an errno.
template <typename Request, typename Reply>
int call(Context& context, abi::ControlOpcode opcode, const Request& request, Reply& reply) {
  return ControlSession(context).call(opcode, request, reply);
}

// The same for a request about one object whose reply has no body.
inline int call(Context& context, abi::ControlOpcode opcode, std::uint32_t handle) {
  abi::Empty reply;
  return call(context, opcode, abi::HandleRequest{handle, 0}, reply);
}

// What a request that destroys an object comes to. On a dead device it succeeds: the object is gone.
inline int outcome_of_release(Context& context, int error) {
  return error == EIO && is_dead(context) ? 0 : error;
}

// Requests the destruction of one object, with a reply that has no body.
inline int release(Context& context, abi::ControlOpcode opcode, std::uint32_t handle) {
  return outcome_of_release(context, call(context, opcode, handle));
}

}  // namespace urnic::provider
