// The LAN that the switch has joined, in one line.
#pragma once

#include <string>

#include "json/json.hpp"

namespace urnic::cli {

// `lan` as the admin requests `status` and `link` answer it.
std::string lan_line(const nlohmann::json& lan);

}  // namespace urnic::cli
