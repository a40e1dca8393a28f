#include "device_model/control/admin/json.hpp"

template class nlohmann::basic_json<>;

namespace urnic::control {

using nlohmann::json;

json parse_json(std::string_view text) { return json::parse(text, nullptr, false); }

std::string to_line(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace urnic::control
