#include "device_model/control/rdma_cm/administration_host.hpp"

#include <algorithm>

#include "device_model/control/fabric/partition_table.hpp"
#include "device_model/control/rdma_cm/gsi_host.hpp"
#include "device_model/control/rdma_cm/infiniband_addresses.hpp"
#include "device_model/subnet/network.hpp"

namespace urnic::control::rdma_cm {
namespace {

constexpr auto kAdministrationClass =
    static_cast<std::uint8_t>(wire::mad::ManagementClass::subnet_administration);

}  // namespace

AdministrationHost::AdministrationHost(EventLoop& loop, Fabric& fabric, Gsi& gsi, std::function<void()> due)
    : fabric_(fabric), gsi_(gsi), timer_(loop, std::move(due)) {}

AdministrationHost::~AdministrationHost() {
  gsi_.on_class(kAdministrationClass, wire::mad::kAdministrationClassVersion, {});
}

void AdministrationHost::on_answer(Handler handler) {
  gsi_.on_class(kAdministrationClass, wire::mad::kAdministrationClassVersion,
                [handler = std::move(handler)](ServedDevice& device, const GsiAddress& from, MadBytes bytes) {
                  if (!device.adapter) return false;
                  wire::mad::Mad mad;
                  std::copy(bytes.begin(), bytes.end(), mad.begin());
                  return handler(*device.adapter, {from.lid}, mad);
                });
}

std::optional<wire::Lid> AdministrationHost::send(subnet::NodeIndex adapter, const wire::mad::Mad& mad) {
  ServedDevice* const device = fabric_.device_at(adapter);
  const wire::mad::PortInfo& port = fabric_.subnet().port(adapter);
  GsiAddress to;
  to.lid = port.manager_lid.value;
  to.service_level = port.manager_sl;
  // Every port is a member of the default partition, at least a limited one, or could not ask
  // (IBTA 10.9.1.2).
  if (device != nullptr) to.pkey_index = pkey_index(fabric_, *device, {}).value_or(0);
  if (device == nullptr || gsi_.send(*device, to, mad) == GsiSent::bad_address) return {};
  return port.manager_lid;
}

void AdministrationHost::wake_at(transport::Time deadline) {
  timer_.set(std::max(deadline - steady_now(), transport::Nanoseconds::zero()));
}

}  // namespace urnic::control::rdma_cm
