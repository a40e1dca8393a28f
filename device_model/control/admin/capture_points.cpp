#include "device_model/control/admin/capture_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "device_model/capture/ring_memory.hpp"
#include "json/json.hpp"

namespace urnic::control {
namespace {

using link::CapturePoint;
using nlohmann::json;

constexpr std::array kAll{CapturePoint::before_link, CapturePoint::after_link, CapturePoint::dropped};

CapturePoint point_named(const json& name) {
  for (const CapturePoint point : kAll) {
    if (name.is_string() && name.get_ref<const std::string&>() == short_name(point)) return point;
  }
  throw std::runtime_error(
      fmt::format("\"points\" has {}: each must be before, after or dropped", json_text(name)));
}

}  // namespace

std::string_view short_name(CapturePoint point) {
  switch (point) {
    case CapturePoint::before_link:
      return "before";
    case CapturePoint::after_link:
      return "after";
    case CapturePoint::dropped:
      break;
  }
  return "dropped";
}

CapturePoints capture_points(const json& request) {
  const auto points = request.find("points");
  if (points == request.end() || points->is_null()) return {CapturePoint::before_link};
  if (!points->is_array() || points->empty()) {
    throw std::runtime_error("\"points\" must be a list of one or more of before, after, dropped");
  }
  CapturePoints chosen;
  for (const json& name : *points) chosen.push_back(point_named(name));
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

std::size_t snapshot_bytes(const json& request) {
  const auto asked = request.find("snaplen");
  if (asked == request.end() || asked->is_null()) return capture::kMaxFrameBytes;
  if (!asked->is_number_unsigned() || asked->get<std::uint64_t>() < capture::kMinSnapshotBytes) {
    throw std::runtime_error(fmt::format("\"snaplen\" is {}: it must be a number of bytes, {} or more",
                                         json_text(*asked), capture::kMinSnapshotBytes));
  }
  return static_cast<std::size_t>(
      std::min<std::uint64_t>(asked->get<std::uint64_t>(), capture::kMaxFrameBytes));
}

}  // namespace urnic::control
