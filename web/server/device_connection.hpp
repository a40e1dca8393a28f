// The server's conversation with the device process, which comes and goes as programs do.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <stdexcept>

#include "json/json.hpp"
#include "tools/urnic/admin_client.hpp"

namespace urnic::web {

// No device process runs now.
struct NoDeviceProcess : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class DeviceConnection {
 public:
  explicit DeviceConnection(std::filesystem::path run_directory) : run_directory_(std::move(run_directory)) {}

  // Asks on one connection for all; makes it if there is none. Any thread. Throws cli::RequestRefused,
  // NoDeviceProcess, or another cli::Failure.
  nlohmann::json ask(const nlohmann::json& request);

  // A connection of the caller's own, as a capture needs. Throws NoDeviceProcess, cli::Failure.
  cli::AdminClient connect() const;

 private:
  const std::filesystem::path run_directory_;
  std::mutex one_at_a_time_;
  std::optional<cli::AdminClient> client_;
};

}  // namespace urnic::web
