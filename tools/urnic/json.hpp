// nlohmann's JSON type for the command. Include this, never <nlohmann/json.hpp>: json.cpp alone compiles the
// type's members, the parser and the printer, which take longer than the files that use them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

extern template class nlohmann::basic_json<>;

namespace urnic::cli {

// A text as JSON; discarded (is_discarded()) if it is none.
nlohmann::json parse_json(std::string_view text);
// On one line, without a newline.
std::string to_text(const nlohmann::json& value);
// A line for each member, indented, without a newline at the end.
std::string to_lines(const nlohmann::json& value);

}  // namespace urnic::cli
