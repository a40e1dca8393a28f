// The admin socket's request "set": how QPs recover from loss, or how they control congestion.
#include <fmt/format.h>

#include <stdexcept>

#include "device_model/control/admin/admin_lookup.hpp"
#include "device_model/control/admin/admin_server.hpp"
#include "device_model/control/admin/congestion_commands.hpp"
#include "device_model/control/admin/queue_pair_changes.hpp"
#include "device_model/control/admin/recovery_commands.hpp"
#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/objects/program_context.hpp"
#include "device_model/control/uverbs/control_server.hpp"
#include "device_model/engine/engine.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "json/json.hpp"

namespace urnic::control {

using nlohmann::json;

namespace {

std::optional<std::uint32_t> read_qpn(const json& request) {
  const auto qp = request.find("qp");
  if (qp == request.end() || qp->is_null()) return {};
  if (!qp->is_number_unsigned() || qp->get<std::uint64_t>() > 0xFFFFFF)
    throw std::runtime_error(fmt::format("qp = {}: allowed is a QP's number", json_text(*qp)));
  return qp->get<std::uint32_t>();
}

}  // namespace

std::size_t change_queue_pairs(Fabric& fabric, const ControlServer& control, ServedDevice& device,
                               std::optional<std::uint32_t> qpn,
                               const std::function<void(engine::QueuePairContext&)>& change) {
  std::size_t changed = 0;
  for (const auto& context : control.contexts().all()) {
    if (&context->device != &device) continue;
    for (const auto& [handle, qp] : context->qps) {
      engine::QueuePairContext& hosted = *qp->shared->hosted;
      if (qpn && hosted.qpn().value != *qpn) continue;
      fabric.engine(device).execute([&] { change(hosted); });
      ++changed;
    }
  }
  return changed;
}

json AdminServer::set(const json& request, AdminConnectionState&) {
  Fabric& fabric = surroundings_.fabric;
  ServedDevice* const only = find_device(fabric, request);
  const std::optional<std::uint32_t> qpn = read_qpn(request);
  std::optional<transport::RecoveryMode> mode;
  std::optional<CongestionChange> congestion;
  if (request.contains("congestion")) {
    congestion = read_congestion_change(request);
  } else {
    mode = read_recovery(request.value("recovery", json()));
  }
  std::size_t changed = 0;
  for (const auto& device : fabric.devices()) {
    if (only != nullptr && device.get() != only) continue;
    changed += mode ? set_recovery(fabric, surroundings_.control, *device, *mode, qpn)
                    : set_congestion(fabric, surroundings_.control, *device, *congestion, qpn);
  }
  if (qpn && changed == 0) throw std::runtime_error(fmt::format("there is no QP {}", *qpn));
  return {{"ok", true}, {"queue_pairs", changed}};
}

}  // namespace urnic::control
