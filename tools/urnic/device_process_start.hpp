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
  std::filesystem::path configuration;   // empty: the default fabric, or the devices of `udp`
  bool until_unused = false;             // it ends by itself once nothing uses it
  std::vector<std::string> udp;          // addresses of this host, a device for each
  bool network = false;                  // a network interface for each device, in a network of their own
  bool outside = false;                  // with a way from there to the networks of this host
  bool interfaces = false;               // the same, in this network
  bool infiniband = false;               // two InfiniBand devices, and a subnet manager
  std::filesystem::path ibsim_net = {};  // a file that has InfiniBand devices; empty: none
  std::string face = {};  // of the devices that no configuration names; empty: it does not matter
};

// Connects to the device process of `options.run_directory`, starting one if none runs, in the background and
// detached from this terminal. The device process stays as long as the connection, or with `until_unused`
// false until 'urnic down'. Commands that do this at the same time end up with the same device process; the
// same options join it. One that was started with other options is waited for if it is about to end. Throws
// Failure if it is not, with what differs, or if none gets ready; a device process's own words are on stderr
// then.
AdminClient connect_or_start(const Installation& installation, const StartOptions& options);

// Has the device process end if nothing uses it, and waits for that. False: something uses it, and it stays.
bool make_way(AdminClient& running);

}  // namespace urnic::cli
