// The options --infiniband and --ibsim-net, which `urnic run` and `urnic up` share.
#pragma once

#include <string>

#include "command_line/command_line.hpp"

namespace urnic::cli {

// A fabric of InfiniBand devices and a subnet manager for it.
struct InfinibandOptions {
  bool two_devices = false;
  std::string ibsim_net;  // a file that has the fabric; empty: none

  bool any() const { return two_devices || !ibsim_net.empty(); }
};

// Adds them to `command`, which has --config, --udp, --face and --network already. `options` receives their
// values and must outlive `command`.
inline void add_infiniband_options(command_line::Command& command, InfinibandOptions& options) {
  command.add_flag(
      "--infiniband", options.two_devices,
      "Two InfiniBand devices on one switch, and a subnet manager: opensm, or a built-in one where "
      "it is not installed (docs/infiniband.md)");
  command
      .add_option(
          "--ibsim-net", options.ibsim_net,
          "InfiniBand switches and devices as a file in ibsim's format has them, and a subnet manager "
          "(docs/infiniband.md)")
      .existing_file()
      .type_name("FILE")
      .suggest("file");
  for (const char* const other : {"--config", "--udp", "--face", "--network"}) {
    command.option("--infiniband").excludes(command.option(other));
    command.option("--ibsim-net").excludes(command.option(other));
  }
  command.option("--ibsim-net").excludes(command.option("--infiniband"));
}

}  // namespace urnic::cli
