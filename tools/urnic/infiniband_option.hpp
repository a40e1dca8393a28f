// The option --infiniband, which `urnic run` and `urnic up` share.
#pragma once

#include "command_line/command_line.hpp"

namespace urnic::cli {

// Adds the flag to `command`, which has --config, --udp, --face and --network already. `infiniband` receives
// its value and must outlive `command`.
inline void add_infiniband_option(command_line::Command& command, bool& infiniband) {
  command.add_flag(
      "--infiniband", infiniband,
      "Two InfiniBand devices on one switch, and a subnet manager: opensm, or a built-in one where "
      "it is not installed (docs/infiniband.md)");
  for (const char* const other : {"--config", "--udp", "--face", "--network"})
    command.option("--infiniband").excludes(command.option(other));
}

}  // namespace urnic::cli
