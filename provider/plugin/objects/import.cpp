// Objects of a context of another process, or of another context of this process (ibv_import_pd(3),
// ibv_import_mr(3)). import_context in context.cpp opens such a context.
#include <cerrno>

#include "device_model/abi/memory_messages.hpp"
#include "provider/freestanding/allocation.hpp"
#include "provider/plugin/connection/control_call.hpp"
#include "provider/plugin/objects/parent_domain.hpp"
#include "provider/plugin/operations.hpp"

namespace urnic::provider {

ibv_pd* import_pd(ibv_context* context, std::uint32_t handle) {
  auto* pd = create_object<Pd>();
  abi::HandleReply reply{};
  const int error = pd == nullptr ? ENOMEM
                                  : call(context_of(context), abi::ControlOpcode::import_pd,
                                         abi::HandleRequest{handle, 0}, reply);
  if (error != 0) {
    destroy_object(pd);
    errno = error;
    return nullptr;
  }
  pd->verbs.context = context;
  pd->verbs.handle = handle;
  return &pd->verbs;
}

void unimport_pd(ibv_pd* pd) { destroy_object(&pd_of(pd)); }

// The region's address stays null: the memory may be in another process.
ibv_mr* import_mr(ibv_pd* pd, std::uint32_t handle) {
  auto* mr = create_object<private_abi::Mr>();
  abi::ImportMrReply reply{};
  const int error = mr == nullptr ? ENOMEM
                                  : call(context_of(pd->context), abi::ControlOpcode::import_mr,
                                         abi::HandleRequest{handle, 0}, reply);
  if (error != 0) {
    destroy_object(mr);
    errno = error;
    return nullptr;
  }
  mr->type = private_abi::MrType::imported;
  mr->mr.context = pd->context;
  mr->mr.pd = pd;
  mr->mr.length = reply.length;
  mr->mr.handle = handle;
  mr->mr.lkey = reply.lkey;
  mr->mr.rkey = reply.rkey;
  return &mr->mr;
}

void unimport_mr(ibv_mr* mr) { destroy_object(reinterpret_cast<private_abi::Mr*>(mr)); }

}  // namespace urnic::provider
