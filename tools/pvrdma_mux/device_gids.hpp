// The GIDs of a device of urnic, which come and go with guests, by the device process's admin socket.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "tools/urnic/admin_client.hpp"
#include "wire/identifiers.hpp"

namespace urnic::pvrdma_mux {

std::string to_text(const wire::Gid& gid);

class DeviceGids {
 public:
  // Throws cli::Failure: no device process, or no such device.
  DeviceGids(const std::filesystem::path& run_directory, std::string device);

  // The device has the GID then. Throws cli::Failure.
  void add(const wire::Gid& gid);
  // Of those that `add` has given it; one that it had before, or that somebody else has removed, is no error.
  // Throws cli::Failure when the device process has gone.
  void remove(const wire::Gid& gid);

  // Where the GID is in the device's table, and back; empty: it is not there. Throws cli::Failure.
  std::optional<std::uint8_t> index(const wire::Gid& gid);
  std::optional<wire::Gid> at(std::uint8_t index);

 private:
  // The table as it is, behind a change if `change` is no null pointer: others change it, too.
  std::map<std::uint8_t, wire::Gid> ask(const char* change = nullptr, const wire::Gid& gid = {});

  cli::AdminClient client_;
  std::string device_;
  std::set<wire::Gid> added_;
};

}  // namespace urnic::pvrdma_mux
