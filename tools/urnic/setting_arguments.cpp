#include "tools/urnic/setting_arguments.hpp"

#include <fmt/format.h>

#include "json/json.hpp"
#include "tools/urnic/failure.hpp"

namespace urnic::cli {

using nlohmann::json;

namespace {

json value_of(const std::string& text) {
  const json parsed = parse_json(text);
  return parsed.is_number() || parsed.is_boolean() ? parsed : json(text);
}

}  // namespace

json parse_settings(const std::vector<std::string>& arguments, std::string_view example) {
  json values = json::object();
  for (const std::string& argument : arguments) {
    const std::size_t equals = argument.find('=');
    if (equals == 0 || equals == std::string::npos)
      throw Failure(fmt::format("'{}': a setting is given as KEY=VALUE, such as {}", argument, example),
                    exit_usage);
    values[argument.substr(0, equals)] = value_of(argument.substr(equals + 1));
  }
  return values;
}

}  // namespace urnic::cli
