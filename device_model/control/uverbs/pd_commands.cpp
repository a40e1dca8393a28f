// allocate_pd, deallocate_pd

#include "device_model/control/objects/removal.hpp"
#include "device_model/control/uverbs/commands.hpp"

namespace urnic::control {

int allocate_pd(Session& session, const abi::Empty&, abi::HandleReply& reply, DescriptorExchange&) {
  auto pd = std::make_unique<ProtectionDomain>();
  pd->share = session.device.protection_domains.take();
  pd->id = transport::PdId{session.device.next_pd++};
  reply.handle = session.context->pds.add(std::move(pd));
  return 0;
}

int deallocate_pd(Session& session, const abi::HandleRequest& request, abi::Empty&, DescriptorExchange&) {
  return remove_one(session.context->pds, request.handle);
}

}  // namespace urnic::control
