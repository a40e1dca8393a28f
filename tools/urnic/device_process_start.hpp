// Starting a device process and waiting until it is ready.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/urnic/admin_client.hpp"
#include "tools/urnic/installation.hpp"

namespace urnic::cli {

struct StartOptions {
  std::filesystem::path run_directory;
  std::filesystem::path configuration;  // empty: the default fabric, or the devices of `udp`
  bool until_unused = false;            // it ends by itself once nothing uses it
  std::vector<std::string> udp;         // addresses of this host, a device for each
};

// Starts urnicd in the background, detached from this terminal, and returns once it is ready. Throws Failure
// if it does not get ready; its own words are on stderr then.
void start_device_process(const Installation& installation, const StartOptions& options);

// Connects to the device process of `options.run_directory`, starting one if none runs. Two that do this at
// the same time end up with the same device process. Throws Failure if one runs already and a configuration
// is given.
AdminClient connect_or_start(const Installation& installation, const StartOptions& options);

}  // namespace urnic::cli
