// Whether a running device process was started with the options that a command gives.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/urnic/device_process_start.hpp"

namespace urnic::cli {

// What differs, as a clause for a message; empty: nothing, or the command gives no such option and
// takes what runs. `source` is the device process's answer to "source" (docs/admin-socket.md). A
// configuration is compared by what its file says. Throws Failure if the command's file cannot be read.
std::string what_differs(const StartOptions& options, const nlohmann::json& source);

}  // namespace urnic::cli
