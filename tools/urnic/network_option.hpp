// The option --network, which `urnic run` and `urnic up` share.
#pragma once

#include "command_line/command_line.hpp"

namespace urnic::cli {

// Adds the flag to `command`. `network` receives its value and must outlive `command`.
inline void add_network_option(command_line::Command& command, bool& network) {
  command.add_flag(
      "--network", network,
      "A network interface for each device, in a network of its programs' own (docs/network.md)");
}

}  // namespace urnic::cli
