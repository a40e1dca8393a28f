#include "json/json.hpp"

template class nlohmann::basic_json<>;

namespace urnic {

using nlohmann::json;

json parse_json(std::string_view text) { return json::parse(text, nullptr, false); }

std::string json_text(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string json_lines(const json& value) {
  return value.dump(2, ' ', false, json::error_handler_t::replace);
}

}  // namespace urnic
