// Where the device process's log lines go.
#pragma once

#include <string>

#include "device_model/control/run_directory.hpp"

namespace urnic::control {

// Makes spdlog's default logger write to the run directory's log file, and to stderr too if `foreground`.
// `level` as in Configuration::log_level. Throws spdlog::spdlog_ex.
void start_logging(const RunDirectory& directory, const std::string& level, bool foreground);

// Whether anything was logged that somebody may want to read after the process has ended.
bool has_logged_a_problem();

}  // namespace urnic::control
