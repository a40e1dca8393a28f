// Congestion control of QPs, as the admin socket's requests change it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "device_model/control/fabric/congestion_keys.hpp"

namespace urnic::control {

class ControlServer;
class Fabric;
struct ServedDevice;

// All of it is checked before anything is changed.
struct CongestionChange {
  transport::CongestionAlgorithm algorithm;
  std::vector<std::pair<const CongestionKey*, double>> values;
};

// "congestion": the algorithm; "settings": numbers by their keys. Throws std::runtime_error with what is
// allowed.
CongestionChange read_congestion_change(const nlohmann::json& request);

// For future and existing QPs; with a QPN for that QP alone. Returns how many existing QPs were changed. They
// begin anew, at the line's rate.
std::size_t set_congestion(Fabric& fabric, const ControlServer& control, ServedDevice& device,
                           const CongestionChange& change, std::optional<std::uint32_t> qpn);

}  // namespace urnic::control
