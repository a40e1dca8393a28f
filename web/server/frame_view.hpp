// One frame opened: its headers and fields, each with the bits that it takes, and its bytes.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "json/json.hpp"

namespace urnic::web {

// `bytes`: an Ethernet frame, as far as it was captured. For the page: page/frame.js reads it.
nlohmann::json frame_view(std::span<const std::byte> bytes, std::size_t original_bytes,
                          std::string_view comment);

}  // namespace urnic::web
