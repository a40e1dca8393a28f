// nlohmann's JSON type. Include this instead of <nlohmann/json.hpp>: only json.cpp compiles the type's
// members, the parser and the printer, which take longer than the files that use them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

extern template class nlohmann::basic_json<>;

namespace urnic {

// Parses a text; the result is discarded (is_discarded()) if the text is not JSON.
nlohmann::json parse_json(std::string_view text);
// On one line, without a newline. Replaces bytes that are not UTF-8; names of programs may have them.
std::string json_text(const nlohmann::json& value);
// A line for each member, indented, without a newline at the end. Replaces bytes that are not UTF-8.
std::string json_lines(const nlohmann::json& value);

}  // namespace urnic
