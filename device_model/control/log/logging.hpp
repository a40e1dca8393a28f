// Sets up the device process's log.
#pragma once

#include <filesystem>
#include <string>

namespace urnic::control {

// Sends the log to `file`, and to stderr too if `foreground`. `level` as in Configuration::log_level. Throws
// spdlog::spdlog_ex.
void start_logging(const std::filesystem::path& file, const std::string& level, bool foreground);

// Whether the log has lines worth reading after the process has ended.
bool has_logged_a_problem();

}  // namespace urnic::control
