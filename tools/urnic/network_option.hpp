// The options --network and --outside, which `urnic run` and `urnic up` share.
#pragma once

#include "command_line/command_line.hpp"

namespace urnic::cli {

struct NetworkOptions {
  bool network = false;
  bool outside = false;
};

// Adds the flags to `command`. `options` receives their values and must outlive `command`.
inline void add_network_options(command_line::Command& command, NetworkOptions& options) {
  command.add_flag(
      "--network", options.network,
      "A network interface for each device, in a network of its programs' own (docs/network.md)");
  command.add_flag("--outside", options.outside,
                   "A way from that network to the networks of this host, by slirp4netns");
  command.option("--outside").needs(command.option("--network"));
}

}  // namespace urnic::cli
