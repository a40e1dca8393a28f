// nlohmann's JSON type for the admin socket. Include this instead of <nlohmann/json.hpp>: only json.cpp
// compiles the type's members and the parser, which take longer than the files that use them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

extern template class nlohmann::basic_json<>;

namespace urnic::control {

// Parses a text; the result is discarded (is_discarded()) if the text is not JSON.
nlohmann::json parse_json(std::string_view text);
// One line with its newline. Replaces bytes that are not UTF-8; names of programs may have them.
std::string to_line(const nlohmann::json& value);

}  // namespace urnic::control
