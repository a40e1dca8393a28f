// Whether LD_PRELOAD can load the kernel stand-in into a command, checked before the command starts: if not,
// the program would run and say only that there are no RDMA devices.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace urnic::cli {

// The file that `command` names, searched for in PATH as execvp does, then in the folders of programs for
// administrators; empty if there is none.
std::optional<std::filesystem::path> find_command(const std::string& command);

// Why nothing can be preloaded into `program`, in words for the user; empty if it can, or if that is unknown.
// Follows the interpreter of scripts.
std::optional<std::string> preload_obstacle(const std::filesystem::path& program);

}  // namespace urnic::cli
