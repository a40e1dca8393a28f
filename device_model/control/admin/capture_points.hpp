// The capture points of a capture: "before", "after" and "dropped".
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <vector>

#include "device_model/link/observation.hpp"

namespace urnic::control {

// Without duplicates, in the order of link::CapturePoint.
using CapturePoints = std::vector<link::CapturePoint>;

// The name on the admin socket and the command line.
std::string_view short_name(link::CapturePoint point);

// Reads a request's "points", a list of short names; default: before the link only. Throws std::runtime_error
// for any other value.
CapturePoints capture_points(const nlohmann::json& request);

}  // namespace urnic::control
