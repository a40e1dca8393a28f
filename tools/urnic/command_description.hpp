// `urnic --describe`: all commands with their options, as JSON. Manual pages and completion are made of it
// when urnic is built (packaging/commands), so that each option is described once: where it is added.
#pragma once

#include <string>

#include "command_line/command_line.hpp"

namespace urnic::cli {

// Lines, without a newline at the end.
std::string description_of(const command_line::Command& urnic);

}  // namespace urnic::cli
