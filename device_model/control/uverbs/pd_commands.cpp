// allocate_pd, allocate_reserved_pd, deallocate_pd
#include "device_model/control/objects/removal.hpp"
#include "device_model/control/uverbs/commands.hpp"

namespace urnic::control {
namespace {

std::unique_ptr<ProtectionDomain> make_pd(ServedDevice& device) {
  auto pd = std::make_unique<ProtectionDomain>();
  pd->share = device.protection_domains.take();
  pd->id = transport::PdId{device.next_pd++};
  return pd;
}

}  // namespace

std::uint32_t reserve_pd(Session& session) {
  ReservedPd& reserved = session.reserved_pd;
  if (reserved.handle != 0) return reserved.handle;
  reserved.room = session.device.protection_domains.keep_room();
  if (reserved.room) reserved.handle = session.context->pds.new_handle();
  return reserved.handle;
}

int allocate_pd(Session& session, const abi::Empty&, abi::HandleReply& reply, DescriptorExchange&) {
  reply.handle = session.context->pds.add(make_pd(session.device));
  return 0;
}

int allocate_reserved_pd(Session& session, const abi::HandleRequest& request, abi::Empty&,
                         DescriptorExchange&) {
  if (request.handle == 0 || request.handle != session.reserved_pd.handle) return EINVAL;
  session.reserved_pd = {};
  return session.context->pds.add(request.handle, make_pd(session.device)) ? 0 : EINVAL;
}

int deallocate_pd(Session& session, const abi::HandleRequest& request, abi::HandleReply& reply,
                  DescriptorExchange&) {
  if (const int error = remove_one(session.context->pds, request.handle)) return error;
  reply.handle = reserve_pd(session);
  return 0;
}

}  // namespace urnic::control
