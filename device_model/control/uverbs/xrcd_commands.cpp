// open_xrcd, close_xrcd
#include <cerrno>

#include "device_model/control/objects/removal.hpp"
#include "device_model/control/uverbs/commands.hpp"

namespace urnic::control {

int open_xrcd(Session& session, const abi::OpenXrcdRequest& request, abi::HandleReply& reply,
              DescriptorExchange& descriptors) {
  constexpr std::uint32_t kKnownFlags = abi::xrcd_create | abi::xrcd_exclusive;
  ServedDevice& device = session.device;
  if ((request.flags & ~kKnownFlags) != 0 || descriptors.received.size() > 1) return EINVAL;
  auto opened = std::make_unique<OpenXrcDomain>();
  opened->share = device.xrc_domains.take();
  if (descriptors.received.empty()) {
    opened->domain = std::make_shared<XrcDomain>(device);
  } else if (const int error = open_domain(device, session.disposal, descriptors.received[0], request.flags,
                                           opened->domain)) {
    return error;
  }
  reply.handle = session.context->xrc_domains.add(std::move(opened));
  return 0;
}

int close_xrcd(Session& session, const abi::HandleRequest& request, abi::Empty&, DescriptorExchange&) {
  return remove_one(session.context->xrc_domains, request.handle);
}

}  // namespace urnic::control
