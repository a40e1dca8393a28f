// Whether a command can take the kernel stand-in by LD_PRELOAD, found out before it is started: a program
// that cannot would run and say only that there are no RDMA devices.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace urnic::cli {

// The file that `command` means, searched in PATH as execvp does; empty if there is none.
std::optional<std::filesystem::path> find_command(const std::string& command);

// Why `program` cannot be preloaded, in words for the user; empty if it can, or if that cannot be told.
// Follows the interpreter of scripts.
std::optional<std::string> preload_obstacle(const std::filesystem::path& program);

}  // namespace urnic::cli
