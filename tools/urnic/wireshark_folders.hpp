// Where Wireshark looks for the user's own profiles and plugins.
#pragma once

#include <filesystem>

namespace urnic::cli {

struct WiresharkFolders {
  std::filesystem::path profile;    // urnic's
  std::filesystem::path dissector;  // urnic.lua
};

// As Wireshark 4 finds them, by $XDG_CONFIG_HOME and $HOME. Throws Failure if neither says where.
WiresharkFolders wireshark_folders();

}  // namespace urnic::cli
