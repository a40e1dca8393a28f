// Shares a device, its protection domains and regions with another process (ibv_import_device(3)):
// tell_token, async_channel, import_pd, import_mr. context_commands.cpp begins such a context.
#include <sys/socket.h>

#include <cerrno>

#include "device_model/control/uverbs/commands.hpp"
#include "device_model/control/uverbs/kernel_commands.hpp"
#include "device_model/memory/descriptor_facts.hpp"

namespace urnic::control {

// Every process that may send on a context's connection may have the context. The answer goes to a socket of
// the asking process, because all processes that share the connection would read from it.
int tell_token(Session& session, const abi::Empty&, abi::Empty&, DescriptorExchange& descriptors) {
  if (descriptors.received.size() != 1) return EINVAL;
  if (!memory::is_unix_socket(descriptors.received[0].get())) return ENOTSOCK;
  const abi::ContextToken& token = session.context->token;
  const ssize_t sent = send(descriptors.received[0].get(), &token, sizeof token, MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent < 0) return errno;
  return sent == sizeof token ? 0 : EIO;
}

int async_channel(Session& session, const abi::Empty&, abi::Empty&, DescriptorExchange& descriptors) {
  int read_end = session.async_read_end.get();
  if (read_end < 0 && session.kernel_commands != nullptr)
    read_end = session.kernel_commands->async_read_end(session);
  if (read_end < 0) return EINVAL;
  descriptors.sent.push_back(read_end);
  return 0;
}

int import_pd(Session& session, const abi::HandleRequest& request, abi::HandleReply& reply,
              DescriptorExchange&) {
  reply.handle = request.handle;
  return session.context->pds.find(request.handle) != nullptr ? 0 : EINVAL;
}

int import_mr(Session& session, const abi::HandleRequest& request, abi::ImportMrReply& reply,
              DescriptorExchange&) {
  const MemoryRegion* region = session.context->regions.find(request.handle);
  if (region == nullptr) return EINVAL;
  reply.lkey = reply.rkey = region->key.value;
  reply.length = region->spec.length;
  return 0;
}

}  // namespace urnic::control
