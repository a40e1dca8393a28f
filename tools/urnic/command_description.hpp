// `urnic --describe`: all commands with their options, as JSON. Manual pages and completion are made of it
// when urnic is built (packaging/commands), so that each option is described once: where it is added.
#pragma once

#include "command_line/command_line.hpp"
#include "json/json.hpp"

namespace urnic::cli {

nlohmann::json description_of(const command_line::Command& urnic);

}  // namespace urnic::cli
