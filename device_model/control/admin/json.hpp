// nlohmann's JSON type for the admin socket. Include this, never <nlohmann/json.hpp>: json.cpp alone compiles
// the type's members and the parser, which take longer than the files that use them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

extern template class nlohmann::basic_json<>;

namespace urnic::control {

// A text as JSON; discarded (is_discarded()) if it is none.
nlohmann::json parse_json(std::string_view text);
// One line with its newline. Bytes that are not UTF-8, which names of programs may hold, are replaced.
std::string to_line(const nlohmann::json& value);

}  // namespace urnic::control
