// Where the device process's log lines go.
#pragma once

#include <filesystem>
#include <string>

namespace urnic::control {

// Makes the log go to `file`, and to stderr too if `foreground`.
// `level` as in Configuration::log_level. Throws spdlog::spdlog_ex.
void start_logging(const std::filesystem::path& file, const std::string& level, bool foreground);

// Whether anything was logged that somebody may want to read after the process has ended.
bool has_logged_a_problem();

}  // namespace urnic::control
