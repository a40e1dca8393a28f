#include <fcntl.h>

#include <cerrno>

#include "device_model/abi/memory_messages.hpp"
#include "provider/freestanding/allocation.hpp"
#include "provider/plugin/connection/control_call.hpp"
#include "provider/plugin/operations.hpp"

namespace urnic::provider {

namespace {

// Checked before sending: sending a closed descriptor fails, which would look like the end of the connection.
bool is_open(int descriptor) { return fcntl(descriptor, F_GETFD) >= 0; }

}  // namespace

ibv_mr* register_dma_buf_mr(ibv_pd* pd, std::uint64_t offset, std::size_t length, std::uint64_t iova,
                            int buffer, int access) {
  auto* mr = create_object<private_abi::Mr>();
  const abi::RegisterDmaBufMrRequest request{offset, length, iova, pd->handle,
                                             static_cast<std::uint32_t>(access)};
  abi::RegisterMrReply reply{};
  int error = mr == nullptr ? ENOMEM : EBADF;
  if (mr != nullptr && is_open(buffer)) {
    ControlSession session(context_of(pd->context));
    error = session.call(abi::ControlOpcode::register_dma_buf_mr, request, reply, buffer);
  }
  if (error != 0) {
    destroy_object(mr);
    errno = error;
    return nullptr;
  }
  mr->type = private_abi::MrType::dma_buf;
  mr->access = access;
  mr->mr.handle = reply.handle;
  mr->mr.lkey = reply.lkey;
  mr->mr.rkey = reply.rkey;
  return &mr->mr;
}

}  // namespace urnic::provider
