#include <cerrno>

#include "provider/freestanding/allocation.hpp"
#include "provider/plugin/connection/control_call.hpp"
#include "provider/plugin/operations.hpp"

namespace urnic::provider {

ibv_mw* allocate_mw(ibv_pd* pd, ibv_mw_type type) {
  auto* window = create_object<ibv_mw>();
  if (window == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  abi::AllocateMwReply reply{};
  const abi::AllocateMwRequest request{pd->handle, static_cast<std::uint32_t>(type)};
  if (const int error = call(context_of(pd->context), abi::ControlOpcode::allocate_mw, request, reply)) {
    destroy_object(window);
    errno = error;
    return nullptr;
  }
  window->context = pd->context;
  window->pd = pd;
  window->rkey = reply.rkey;
  window->handle = reply.handle;
  window->type = type;
  return window;
}

int deallocate_mw(ibv_mw* window) {
  const int error = release(context_of(window->context), abi::ControlOpcode::deallocate_mw, window->handle);
  if (error == 0) destroy_object(window);
  return error;
}

// Binds a window of type 1. Posts the work request that a program posts itself for type 2, and chooses the
// new R_Key for the program (IBTA 10.6.7.2.1: the low byte changes with every bind).
int bind_mw(ibv_qp* qp, ibv_mw* window, ibv_mw_bind* bind) {
  if ((bind->bind_info.mw_access_flags & IBV_ACCESS_ZERO_BASED) != 0) return EINVAL;
  if (bind->bind_info.mr == nullptr && bind->bind_info.length != 0) return EINVAL;
  ibv_send_wr request{};
  request.opcode = IBV_WR_BIND_MW;
  request.wr_id = bind->wr_id;
  request.send_flags = bind->send_flags & ~static_cast<unsigned int>(IBV_SEND_INLINE);
  request.bind_mw.mw = window;
  request.bind_mw.rkey = ibv_inc_rkey(window->rkey);
  request.bind_mw.bind_info = bind->bind_info;
  ibv_send_wr* bad_request = nullptr;
  if (const int error = post_send(qp, &request, &bad_request)) return error;
  window->rkey = request.bind_mw.rkey;
  return 0;
}

}  // namespace urnic::provider
