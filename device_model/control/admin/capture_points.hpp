// What a request for a capture says of it: the capture points "before", "after" and "dropped", and how much
// of a frame.
#pragma once

#include <cstddef>
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

// Reads "snaplen", how many bytes of a frame are kept at most; default: all. Throws std::runtime_error for
// any value but a number from capture::kMinSnapshotBytes on.
std::size_t snapshot_bytes(const nlohmann::json& request);

}  // namespace urnic::control
