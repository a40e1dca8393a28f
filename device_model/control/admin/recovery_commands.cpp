#include "device_model/control/admin/recovery_commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>
#include <string>

#include "device_model/control/admin/admin_lookup.hpp"
#include "device_model/control/admin/admin_server.hpp"
#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/fabric/recovery_names.hpp"
#include "device_model/control/objects/program_context.hpp"
#include "device_model/control/uverbs/control_server.hpp"
#include "device_model/engine/engine.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "json/json.hpp"

namespace urnic::control {

using nlohmann::json;

transport::RecoveryMode read_recovery(const json& wanted) {
  const auto mode = wanted.is_string() ? find_recovery(wanted.get<std::string>()) : std::nullopt;
  if (!mode)
    throw std::runtime_error(fmt::format("recovery = {}: allowed is \"{}\"", json_text(wanted),
                                         fmt::join(kRecoveryNames, "\", \"")));
  return *mode;
}

std::size_t set_recovery(Fabric& fabric, const ControlServer& control, ServedDevice& device,
                         transport::RecoveryMode mode, std::optional<std::uint32_t> qpn) {
  transport::RecoverySettings settings = device.settings.recovery;
  settings.mode = mode;
  if (!qpn) device.settings.recovery = settings;
  std::size_t changed = 0;
  for (const auto& context : control.contexts().all()) {
    if (&context->device != &device) continue;
    for (const auto& [handle, qp] : context->qps) {
      engine::QueuePairContext& hosted = *qp->shared->hosted;
      if (qpn && hosted.qpn().value != *qpn) continue;
      fabric.engine(device).execute([&] { hosted.set_recovery(settings); });
      ++changed;
    }
  }
  return changed;
}

json AdminServer::set(const json& request, AdminConnectionState&) {
  Fabric& fabric = surroundings_.fabric;
  ServedDevice* const only = find_device(fabric, request);
  const transport::RecoveryMode mode = read_recovery(request.value("recovery", json()));
  std::optional<std::uint32_t> qpn;
  if (const auto qp = request.find("qp"); qp != request.end() && !qp->is_null()) {
    if (!qp->is_number_unsigned() || qp->get<std::uint64_t>() > 0xFFFFFF)
      throw std::runtime_error(fmt::format("qp = {}: allowed is a QP's number", json_text(*qp)));
    qpn = qp->get<std::uint32_t>();
  }
  std::size_t changed = 0;
  for (const auto& device : fabric.devices()) {
    if (only != nullptr && device.get() != only) continue;
    changed += set_recovery(fabric, surroundings_.control, *device, mode, qpn);
  }
  if (qpn && changed == 0) throw std::runtime_error(fmt::format("there is no QP {}", *qpn));
  return {{"ok", true}, {"queue_pairs", changed}};
}

}  // namespace urnic::control
