#include <cerrno>

#include "provider/plugin/allocation.hpp"
#include "provider/plugin/control_call.hpp"
#include "provider/plugin/operations.hpp"

namespace urnic::provider {

ibv_pd* allocate_pd(ibv_context* context) {
  auto* pd = create_object<ibv_pd>();
  if (pd == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  abi::HandleReply reply{};
  if (const int error = call(context_of(context), abi::ControlOpcode::allocate_pd, abi::Empty{}, reply)) {
    destroy_object(pd);
    errno = error;
    return nullptr;
  }
  pd->context = context;
  pd->handle = reply.handle;
  return pd;
}

int deallocate_pd(ibv_pd* pd) {
  const int error = release(context_of(pd->context), abi::ControlOpcode::deallocate_pd, pd->handle);
  if (error == 0) destroy_object(pd);
  return error;
}

}  // namespace urnic::provider
