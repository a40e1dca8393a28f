// create_ah, destroy_ah
#include <cerrno>

#include "device_model/control/fabric/port_record.hpp"
#include "device_model/control/objects/removal.hpp"
#include "device_model/control/uverbs/commands.hpp"
#include "device_model/control/uverbs/path_resolution.hpp"
#include "device_model/control/uverbs/static_rate.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/engine/device/address_handle_table.hpp"

namespace urnic::control {

int create_ah(Session& session, const abi::CreateAhRequest& request, abi::CreateAhReply& reply,
              DescriptorExchange&) {
  Context& context = *session.context;
  ServedDevice& device = session.device;
  auto handle = std::make_unique<AddressHandle>();
  handle->pd = context.pds.find(request.pd);
  if (handle->pd == nullptr) return EINVAL;
  handle->share = device.address_handles.take();
  wire::NetworkHeaders path;
  if (const int error = resolve_address(session.fabric, device, request.path, path)) return error;

  auto made = std::make_unique<engine::AddressHandle>(handle->pd->id, path);
  if (device.adapter)
    made->static_rate_kbps = static_rate_kbps(port_record_when_up(session.fabric, device), request.path);
  Joining joining(context.address_handles, std::move(handle));
  std::optional<std::uint32_t> number;
  session.fabric.engine(session.device).execute([&] {
    number = device.device->address_handles().add(std::move(made));
  });
  if (!number) return ENOMEM;
  joining->number = reply.number = *number;
  reply.handle = joining.keep();
  return 0;
}

int destroy_ah(Session& session, const abi::HandleRequest& request, abi::Empty&, DescriptorExchange&) {
  Context& context = *session.context;
  return remove_one(context.address_handles, request.handle, session.fabric.engine(session.device),
                    [&](const AddressHandle& handle) { context.withdraw(handle); });
}

}  // namespace urnic::control
