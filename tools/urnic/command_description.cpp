#include "tools/urnic/command_description.hpp"

#include <vector>

#include "command_line/description.hpp"
#include "json/json.hpp"

namespace urnic::cli {
namespace {

using command_line::CommandDescription;
using command_line::OptionDescription;
using nlohmann::json;

json as_json(const std::vector<OptionDescription>& options) {
  json list = json::array();
  for (const OptionDescription& option : options) {
    list.push_back({{"names", option.names},
                    {"value", option.value},
                    {"default", option.default_value},
                    {"help", option.help},
                    {"required", option.required},
                    {"repeats", option.repeats},
                    {"separates", option.separates},
                    {"choices", option.choices},
                    {"suggestion", option.suggestion},
                    {"excludes", option.excludes}});
  }
  return list;
}

json as_json(const CommandDescription& command) {
  json commands = json::array();
  for (const CommandDescription& each : command.commands) commands.push_back(as_json(each));
  return {{"name", command.name},
          {"aliases", command.aliases},
          {"help", command.help},
          {"notes", command.notes},
          {"examples", command.examples},
          {"options", as_json(command.options)},
          {"arguments", as_json(command.arguments)},
          {"commands", commands}};
}

}  // namespace

std::string description_of(const command_line::Command& urnic) {
  return json_lines(as_json(command_line::describe(urnic)));
}

}  // namespace urnic::cli
