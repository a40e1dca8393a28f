#include "tools/urnic/json.hpp"

template class nlohmann::basic_json<>;

namespace urnic::cli {

using nlohmann::json;

json parse_json(std::string_view text) { return json::parse(text, nullptr, false); }

std::string to_text(const json& value) { return value.dump(); }

std::string to_lines(const json& value) { return value.dump(2); }

}  // namespace urnic::cli
