#include "device_model/control/admin/recovery_commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>
#include <string>

#include "device_model/control/admin/queue_pair_changes.hpp"
#include "device_model/control/admin/setting_value.hpp"
#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/fabric/recovery_names.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "json/json.hpp"

namespace urnic::control {

using nlohmann::json;

transport::RecoveryMode read_recovery(const json& wanted) {
  return named_value<transport::RecoveryMode>("recovery", kRecoveryNames, wanted);
}

std::size_t set_recovery(Fabric& fabric, const ControlServer& control, ServedDevice& device,
                         transport::RecoveryMode mode, std::optional<std::uint32_t> qpn) {
  transport::RecoverySettings settings = device.settings.recovery;
  settings.mode = mode;
  if (!qpn) device.settings.recovery = settings;
  return change_queue_pairs(fabric, control, device, qpn,
                            [&](engine::QueuePairContext& queue_pair) { queue_pair.set_recovery(settings); });
}

}  // namespace urnic::control
