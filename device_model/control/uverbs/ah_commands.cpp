// create_ah, destroy_ah
#include <cerrno>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/uverbs/commands.hpp"
#include "device_model/control/uverbs/path_resolution.hpp"

namespace urnic::control {

int create_ah(Session& session, const abi::CreateAhRequest& request, abi::CreateAhReply& reply,
              DescriptorExchange&) {
  Context& context = *session.context;
  ServedDevice& device = session.device;
  ProtectionDomain* const pd = context.pds.find(request.pd);
  if (pd == nullptr) return EINVAL;
  if (device.address_handles >= limits::kMaxAh) return ENOMEM;
  wire::NetworkHeaders path;
  if (const int error = resolve_address(session.fabric, device, request.path, path)) return error;

  auto made = std::make_unique<engine::AddressHandle>(pd->id, path);
  auto handle = std::make_unique<AddressHandle>();
  std::optional<std::uint32_t> number;
  session.fabric.engine(session.device).execute([&] {
    number = device.device->address_handles().add(std::move(made));
  });
  if (!number) return ENOMEM;
  handle->pd = pd;
  handle->number = *number;
  reply.number = *number;
  reply.handle = context.address_handles.add(std::move(handle));
  ++pd->users;
  ++device.address_handles;
  return 0;
}

int destroy_ah(Session& session, const abi::HandleRequest& request, abi::Empty&, DescriptorExchange&) {
  Context& context = *session.context;
  const auto handle = context.address_handles.take(request.handle);
  if (handle == nullptr) return EINVAL;
  session.fabric.engine(session.device).execute([&] {
    session.device.device->address_handles().remove(handle->number);
  });
  --handle->pd->users;
  --session.device.address_handles;
  return 0;
}

}  // namespace urnic::control
