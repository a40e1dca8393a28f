#include "provider/plugin/objects/xrcd.hpp"

#include <fcntl.h>

#include <cerrno>

#include "provider/freestanding/allocation.hpp"
#include "provider/plugin/connection/control_call.hpp"
#include "provider/plugin/operations.hpp"

namespace urnic::provider {
namespace {

constexpr int kNoFile = -1;

// 0 or the errno with which libibverbs' own drivers refuse the attributes.
int check(const ibv_xrcd_init_attr& attributes) {
  constexpr std::uint32_t kNeeded = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
  if (attributes.comp_mask >= IBV_XRCD_INIT_ATTR_RESERVED) return EOPNOTSUPP;
  if ((attributes.comp_mask & kNeeded) != kNeeded) return EINVAL;
  // Checked before sending: sending a closed descriptor fails, which would look like the end of the
  // connection.
  return attributes.fd == kNoFile || fcntl(attributes.fd, F_GETFD) >= 0 ? 0 : EBADF;
}

int open_on_device(Context& context, const ibv_xrcd_init_attr& attributes, abi::HandleReply& reply) {
  abi::OpenXrcdRequest request{};
  if ((attributes.oflags & O_CREAT) != 0) request.flags |= abi::xrcd_create;
  if ((attributes.oflags & O_EXCL) != 0) request.flags |= abi::xrcd_exclusive;
  ControlSession session(context);
  if (attributes.fd == kNoFile) return session.call(abi::ControlOpcode::open_xrcd, request, reply);
  return session.call(abi::ControlOpcode::open_xrcd, request, reply, attributes.fd);
}

}  // namespace

ibv_xrcd* open_xrcd(ibv_context* verbs, ibv_xrcd_init_attr* attributes) {
  int error = check(*attributes);
  auto* xrcd = error == 0 ? create_object<private_abi::Xrcd>() : nullptr;
  if (error == 0 && xrcd == nullptr) error = ENOMEM;
  abi::HandleReply reply{};
  if (error == 0) error = open_on_device(context_of(verbs), *attributes, reply);
  if (error != 0) {
    destroy_object(xrcd);
    errno = error;
    return nullptr;
  }
  xrcd->xrcd.context = verbs;
  xrcd->comp_mask = private_abi::kXrcdHasHandle;
  xrcd->handle = reply.handle;
  return &xrcd->xrcd;
}

int close_xrcd(ibv_xrcd* verbs) {
  private_abi::Xrcd& xrcd = xrcd_of(verbs);
  if (const int error = release(context_of(verbs->context), abi::ControlOpcode::close_xrcd, xrcd.handle)) {
    return error;
  }
  destroy_object(&xrcd);
  return 0;
}

}  // namespace urnic::provider
