// The InfiniBand fabric of a device process, as its subnet manager brings it up.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "tools/urnic/admin_client.hpp"

namespace urnic::cli {

// Waits until the device process's subnet manager has made the ports active, for 10 s and 0.1 s more for each
// port at most; returns at once if it has none, or has done so before. Programs that begin earlier fail,
// because their ports have no LIDs. Returns what is wrong and where to look if the manager has ended, or is
// not so far in that time; empty: all is well, or `is_over`, which it asks again and again, has said that
// nobody waits any more. Throws Failure if the device process does not answer.
std::string wait_for_active_ports(
    AdminClient& client, const std::filesystem::path& run_directory,
    const std::function<bool()>& is_over = [] { return false; });

// The ports of a device and of a station (docs/admin-socket.md), as the device process describes them.
struct StationPorts {
  nlohmann::json device;
  nlohmann::json host;
};

// Waits until the subnet manager has made both active: as long as wait_for_active_ports if there is one, the
// device process's or a program, and for 3 s if there is none. Throws Failure, which says which is not and
// where to look.
StationPorts wait_for_station(AdminClient& client, const std::filesystem::path& run_directory,
                              const std::string& device, const std::string& host);

// Says on stderr what the built-in manager cannot do, if that is the manager.
void tell_of_built_in_manager(AdminClient& client);

// One line: who manages the fabric, and how many ports are active. `subnet` is that of the device process's
// status.
std::string subnet_line(const nlohmann::json& subnet);

}  // namespace urnic::cli
