// The option --udp, which `urnic run` and `urnic up` share.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace urnic::cli {

// Adds the option to `command`, which has --config already. `addresses` receives its values and must outlive
// `command`.
inline void add_udp_option(CLI::App& command, std::vector<std::string>& addresses) {
  command
      .add_option(
          "--udp", addresses,
          "A device on UDP port 4791 of this address of the host, for any RoCEv2 peer that IP reaches "
          "(docs/wires.md); several: commas between addresses of one device, or --udp again")
      ->type_name("ADDRESS")
      ->allow_extra_args(false)
      ->excludes(command.get_option("--config"));
}

}  // namespace urnic::cli
