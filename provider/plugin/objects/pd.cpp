#include <unistd.h>

#include <cerrno>

#include "provider/freestanding/allocation.hpp"
#include "provider/plugin/connection/control_call.hpp"
#include "provider/plugin/objects/parent_domain.hpp"
#include "provider/plugin/operations.hpp"

namespace urnic::provider {
namespace {

// 0 or an errno. What the device has reserved it does not refuse, so nobody waits for an answer.
int allocate_on_device(Context& context, std::uint32_t& handle) {
  ControlSession session(context);
  if (context.reserved_pd != 0 && context.connected_process == getpid()) {
    handle = context.reserved_pd;
    context.reserved_pd = 0;
    return session.announce(abi::ControlOpcode::allocate_reserved_pd, abi::HandleRequest{handle, 0});
  }
  abi::HandleReply reply{};
  const int error = session.call(abi::ControlOpcode::allocate_pd, abi::Empty{}, reply);
  handle = reply.handle;
  return error;
}

// 0 or an errno. On a dead device it succeeds.
int deallocate_on_device(Context& context, std::uint32_t handle) {
  ControlSession session(context);
  abi::HandleReply reply{};
  const int error = session.call(abi::ControlOpcode::deallocate_pd, abi::HandleRequest{handle, 0}, reply);
  if (error == 0) context.reserved_pd = reply.handle;
  return outcome_of_release(context, error);
}

}  // namespace

ibv_pd* allocate_pd(ibv_context* context) {
  auto* pd = create_object<Pd>();
  if (pd == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  std::uint32_t handle = 0;
  if (const int error = allocate_on_device(context_of(context), handle)) {
    destroy_object(pd);
    errno = error;
    return nullptr;
  }
  pd->verbs.context = context;
  pd->verbs.handle = handle;
  return &pd->verbs;
}

int deallocate_pd(ibv_pd* verbs) {
  Pd& pd = pd_of(verbs);
  if (is_parent_domain(*verbs)) return deallocate_parent_domain(pd);
  if (pd.users.load() != 0) return EBUSY;
  const int error = deallocate_on_device(context_of(verbs->context), verbs->handle);
  if (error == 0) destroy_object(&pd);
  return error;
}

}  // namespace urnic::provider
