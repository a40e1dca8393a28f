// allocate_pd, deallocate_pd
#include <cerrno>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/uverbs/commands.hpp"

namespace urnic::control {

int allocate_pd(Session& session, const abi::Empty&, abi::HandleReply& reply, DescriptorExchange&) {
  ServedDevice& device = session.device;
  if (device.protection_domains >= limits::kMaxPd) return ENOMEM;
  auto pd = std::make_unique<ProtectionDomain>();
  pd->id = transport::PdId{device.next_pd++};
  reply.handle = session.context->pds.add(std::move(pd));
  ++device.protection_domains;
  return 0;
}

int deallocate_pd(Session& session, const abi::HandleRequest& request, abi::Empty&, DescriptorExchange&) {
  const ProtectionDomain* pd = session.context->pds.find(request.handle);
  if (pd == nullptr) return EINVAL;
  if (pd->users != 0) return EBUSY;
  session.context->pds.take(request.handle);
  --session.device.protection_domains;
  return 0;
}

}  // namespace urnic::control
