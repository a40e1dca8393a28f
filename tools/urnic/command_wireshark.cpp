// urnic wireshark: puts urnic's dissector and profile where Wireshark finds them.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <system_error>

#include "tools/urnic/commands.hpp"
#include "tools/urnic/failure.hpp"
#include "tools/urnic/installation.hpp"
#include "tools/urnic/wireshark_folders.hpp"

namespace urnic::cli {

using command_line::Command;

namespace {

// Replaces what an earlier urnic put there. Files of the same profile that are the user's own stay.
void install() {
  const WiresharkInstallation from = find_wireshark_installation();
  const WiresharkFolders to = wireshark_folders();
  constexpr auto kReplace = std::filesystem::copy_options::overwrite_existing;
  try {
    std::filesystem::create_directories(to.profile);
    std::filesystem::copy(from.profile, to.profile, kReplace | std::filesystem::copy_options::recursive);
    std::filesystem::create_directories(to.dissector.parent_path());
    std::filesystem::copy_file(from.dissector, to.dissector, kReplace);
  } catch (const std::filesystem::filesystem_error& error) {
    throw Failure(error.what());
  }
  fmt::print(
      "{}\n{}\nIn Wireshark: Edit > Configuration Profiles > urnic. In a terminal: wireshark -C urnic\n",
      to.profile.string(), to.dissector.string());
}

void remove() {
  const WiresharkFolders folders = wireshark_folders();
  try {
    const bool had_profile = std::filesystem::remove_all(folders.profile) != 0;
    const bool had_dissector = std::filesystem::remove(folders.dissector);
    if (!had_profile && !had_dissector) throw Failure("nothing of urnic's is installed for Wireshark");
  } catch (const std::filesystem::filesystem_error& error) {
    throw Failure(error.what());
  }
}

}  // namespace

void add_wireshark(Command& urnic) {
  Command command = urnic.add_subcommand("wireshark", "Give your Wireshark urnic's dissector and profile");
  command.require_subcommand();
  command.footer("Example: urnic wireshark install");
  Command installed =
      command.add_subcommand("install", "Copy the dissector and the profile to your own Wireshark folders");
  installed.footer(
      "The dissector shows selective acknowledges; the profile has columns, colours and filters for RoCE.\n"
      "Example: urnic wireshark install, and then: wireshark -C urnic lossy.pcapng");
  installed.callback(install);
  Command removed = command.add_subcommand("remove", "Remove them again, the profile with all that is in it");
  removed.footer("Example: urnic wireshark remove");
  removed.callback(remove);
}

}  // namespace urnic::cli
