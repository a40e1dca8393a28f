#include <cerrno>
#include <cstdint>

#include "provider/freestanding/allocation.hpp"
#include "provider/plugin/connection/control_call.hpp"
#include "provider/plugin/operations.hpp"

namespace urnic::provider {

// The library sets no member of this region.
ibv_mr* allocate_null_mr(ibv_pd* pd) {
  auto* mr = create_object<private_abi::Mr>();
  if (mr == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  abi::RegisterMrReply reply{};
  const abi::HandleRequest request{pd->handle, 0};
  if (const int error = call(context_of(pd->context), abi::ControlOpcode::allocate_null_mr, request, reply)) {
    destroy_object(mr);
    errno = error;
    return nullptr;
  }
  mr->type = private_abi::MrType::null;
  mr->mr.context = pd->context;
  mr->mr.pd = pd;
  mr->mr.length = SIZE_MAX;
  mr->mr.handle = reply.handle;
  mr->mr.lkey = reply.lkey;
  return &mr->mr;
}

}  // namespace urnic::provider
