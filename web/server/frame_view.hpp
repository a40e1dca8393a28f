// One frame opened: its headers and fields, each with the bits that it takes, and its bytes.
#pragma once

#include "analysis/capture_files/captured_packet.hpp"
#include "json/json.hpp"

namespace urnic::web {

// For the page: page/frame.js reads it.
nlohmann::json frame_view(const analysis::CapturedPacket& packet);

}  // namespace urnic::web
