#include "provider/plugin/connection/control_call.hpp"

#include <unistd.h>

#include <cerrno>
#include <span>

#include "provider/plugin/connection/death_watch.hpp"
#include "provider/plugin/connection/device_death.hpp"
#include "provider/process_identity.hpp"

namespace urnic::provider {
namespace {

int join_context(Context& context, ControlConnection& connection) {
  ProcessIdentity identity;
  if (const int error = identity.open()) return error;
  allow_memory_access_by_peer(connection.socket());
  abi::JoinContextRequest request{};
  request.token = context.token;
  request.version = abi::kControlVersion;
  copy_program_name(request.program);
  const int all[] = {identity.pid_descriptor.get(), identity.memory.get()};
  const auto descriptors = identity.to_send(all);
  abi::JoinContextReply reply{};
  ReceivedDescriptors received;
  return connection.exchange({abi::ControlOpcode::join_context, &request, sizeof request, descriptors.data(),
                              descriptors.size(), &reply, sizeof reply},
                             received);
}

// Gives a forked child a connection of its own. On the parent's, child and parent would take each other's
// replies; and a process must register its memory itself.
int connect_forked_child(Context& context) {
  Descriptor socket;
  if (const int error = connect_to_same_device(context.control.socket(), socket)) return error;
  ControlConnection connection;
  connection.use(socket.get());
  if (const int error = join_context(context, connection)) return error;
  context.own_socket = static_cast<Descriptor&&>(socket);
  context.control = connection;
  context.connected_process = getpid();
  context.reserved_pd = 0;
  watch_for_death(context);
  return 0;
}

}  // namespace

int ControlSession::exchange(const ControlRequest& request) {
  if (const int error = prepare()) return error;
  received_ = ReceivedDescriptors{};
  return outcome(context_.control.exchange(request, received_));
}

int ControlSession::announce(const ControlRequest& request) {
  if (const int error = prepare()) return error;
  return outcome(context_.control.announce(request));
}

int ControlSession::prepare() {
  if (is_dead(context_)) return EIO;
  if (context_.connected_process == getpid()) return 0;
  return connect_forked_child(context_) == 0 ? 0 : outcome(EPIPE);
}

int ControlSession::outcome(int error) {
  if (error != EPIPE) return error;
  declare_dead(context_);
  return EIO;
}

}  // namespace urnic::provider
