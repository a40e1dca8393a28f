// What commands ask a device process in one request.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace urnic::cli {

// The answer of the device process `name`, empty for the default one, to one request of docs/admin-socket.md.
// Tells a terminal if the answer takes long. Throws Failure if none runs, or as it refuses.
nlohmann::json answer_of_device_process(const std::string& name, const nlohmann::json& request);

}  // namespace urnic::cli
