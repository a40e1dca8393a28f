// Loss recovery of QPs, as the admin socket's requests change it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "device_model/transport/recovery_settings.hpp"

namespace urnic::control {

class ControlServer;
class Fabric;
struct ServedDevice;

// The mode that `wanted` names. Throws std::runtime_error with the allowed names.
transport::RecoveryMode read_recovery(const nlohmann::json& wanted);

// For future and existing QPs; with a QPN for that QP alone. Returns how many existing QPs were changed.
std::size_t set_recovery(Fabric& fabric, const ControlServer& control, ServedDevice& device,
                         transport::RecoveryMode mode, std::optional<std::uint32_t> qpn);

}  // namespace urnic::control
