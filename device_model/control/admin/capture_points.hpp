// The capture points that a capture is asked for: "before", "after" and "dropped".
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <vector>

#include "device_model/link/observation.hpp"

namespace urnic::control {

// Each once, in the order of link::CapturePoint.
using CapturePoints = std::vector<link::CapturePoint>;

// How the admin socket and the command line call it.
std::string_view short_name(link::CapturePoint point);

// Of a request's "points", a list of short names; before the link only if it has none. Throws
// std::runtime_error for anything else.
CapturePoints capture_points(const nlohmann::json& request);

}  // namespace urnic::control
