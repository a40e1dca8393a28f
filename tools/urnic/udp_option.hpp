// The option --udp, which `urnic run` and `urnic up` share.
#pragma once

#include <string>
#include <vector>

#include "command_line/command_line.hpp"

namespace urnic::cli {

// Adds the option to `command`, which has --config already. `addresses` receives its values and must outlive
// `command`.
inline void add_udp_option(command_line::Command& command, std::vector<std::string>& addresses) {
  command
      .add_option(
          "--udp", addresses,
          "A device on UDP port 4791 of this address of the host, for any RoCEv2 peer that IP reaches "
          "(docs/wires.md); several: commas between addresses of one device, or --udp again")
      .type_name("ADDRESS")
      .no_more_words()
      .excludes(command.option("--config"));
}

}  // namespace urnic::cli
