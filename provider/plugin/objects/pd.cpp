#include <cerrno>

#include "provider/plugin/connection/control_call.hpp"
#include "provider/plugin/freestanding/allocation.hpp"
#include "provider/plugin/objects/parent_domain.hpp"
#include "provider/plugin/operations.hpp"

namespace urnic::provider {

ibv_pd* allocate_pd(ibv_context* context) {
  auto* pd = create_object<Pd>();
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
  pd->verbs.context = context;
  pd->verbs.handle = reply.handle;
  return &pd->verbs;
}

int deallocate_pd(ibv_pd* verbs) {
  Pd& pd = pd_of(verbs);
  if (is_parent_domain(*verbs)) return deallocate_parent_domain(pd);
  if (pd.users.load() != 0) return EBUSY;
  const int error = release(context_of(verbs->context), abi::ControlOpcode::deallocate_pd, verbs->handle);
  if (error == 0) destroy_object(&pd);
  return error;
}

}  // namespace urnic::provider
