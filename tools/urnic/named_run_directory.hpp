// Which run directory a command means, by the rule that every part of urnic follows.
#pragma once

#include <filesystem>
#include <string>

#include "command_line/command_line.hpp"

namespace urnic::cli {

// The one that trust/default_directory.hpp names, as an absolute path. An explicit `name` (not empty) beats
// $URNIC_DIR, so that `--name` always does what it says. Throws Failure if the path is too long for the
// sockets in it, if `name` is not a plain file name, or if another user could have made the directory
// (trust/directory.hpp).
std::filesystem::path named_run_directory(const std::string& name);

// Gives `command` the option `--name`, whose value goes into `name`; that must live as long as `command`.
void add_name_option(command_line::Command& command, std::string& name);

}  // namespace urnic::cli
