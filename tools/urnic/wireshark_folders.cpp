#include "tools/urnic/wireshark_folders.hpp"

#include <cstdlib>

#include "tools/urnic/failure.hpp"

namespace urnic::cli {
namespace {

std::filesystem::path folder_of_variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::filesystem::path{} : std::filesystem::path(value);
}

}  // namespace

WiresharkFolders wireshark_folders() {
  const std::filesystem::path home = folder_of_variable("HOME");
  if (!home.is_absolute()) throw Failure("HOME is not set: Wireshark's folders are not known");
  std::filesystem::path configuration = folder_of_variable("XDG_CONFIG_HOME");
  if (!configuration.is_absolute()) configuration = home / ".config";
  return {configuration / "wireshark" / "profiles" / "urnic",
          home / ".local" / "lib" / "wireshark" / "plugins" / "urnic.lua"};
}

}  // namespace urnic::cli
