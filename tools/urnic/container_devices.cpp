#include "tools/urnic/container_devices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "device_model/abi/run_directory_layout.hpp"
#include "json/json.hpp"
#include "tools/urnic/failure.hpp"

namespace urnic::cli {
namespace {

// The newest version that podman 4.3 of Debian 12 reads, and newer readers take it, too.
constexpr char kSpecificationVersion[] = "0.5.0";
constexpr char kDefaultClass[] = "nic";
// A folder that no image has files in, and that is there where an image's own root cannot be written: many
// runtimes put a file system of their own on /run then.
constexpr char kContainerFolder[] = "/run/urnic.dev";
constexpr std::size_t kLongestClass = 63;  // SPEC.md, kind
// podman 4.3 ends with a panic at a name of one character.
constexpr std::size_t kShortestName = 2;

bool is_letter_or_digit(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// Letters, digits and `others`, with a letter or a digit at each end.
bool is_name(std::string_view name, std::string_view others) {
  return name.size() >= kShortestName && is_letter_or_digit(name.front()) &&
         is_letter_or_digit(name.back()) && std::all_of(name.begin(), name.end(), [others](char c) {
           return is_letter_or_digit(c) || others.find(c) != std::string_view::npos;
         });
}

nlohmann::json json_of(const ContainerMount& mount) {
  // A user namespace may not take away what the file system outside forbids: crun keeps that.
  nlohmann::json options{"bind", "ro", "nosuid", "nodev"};
  if (!mount.programs) options.push_back("noexec");
  return {{"hostPath", mount.outside.string()},
          {"containerPath", mount.inside.string()},
          {"options", std::move(options)}};
}

nlohmann::json device(const std::string& name, const std::string& variable) {
  return {{"name", name}, {"containerEdits", {{"env", {variable}}}}};
}

}  // namespace

std::string default_device_class(const std::string& name) {
  return name.empty() || name == "default" ? kDefaultClass : name;
}

void require_device_class(const std::string& device_class) {
  if (device_class.size() <= kLongestClass && is_name(device_class, "-_") &&
      std::isalpha(static_cast<unsigned char>(device_class.front())) != 0)
    return;
  throw Failure(
      fmt::format("containers cannot ask for devices of the class '{}': give another one by --class, of 2 to "
                  "{} letters, digits, '-' and "
                  "'_', with a letter first",
                  device_class, kLongestClass));
}

bool is_container_device_name(const std::string& name) { return is_name(name, "-_.:"); }

ContainerEdits container_edits(const Installation& installation, const std::filesystem::path& run_directory,
                               const std::string& device_class) {
  const std::filesystem::path folder = std::filesystem::path(kContainerFolder) / device_class;
  const std::filesystem::path libraries = folder / "lib";
  const std::filesystem::path run = folder / "run";
  ContainerEdits edits;
  edits.mounts = {{installation.kernel_stand_in.parent_path(), libraries, true}, {run_directory, run, false}};
  const auto inside = [&libraries](const std::filesystem::path& file) {
    return (libraries / file.filename()).string();
  };
  edits.environment = {fmt::format("{}={}", abi::kRunDirectoryVariable, run.string()),
                       "LD_PRELOAD=" + inside(installation.kernel_stand_in),
                       "RDMAV_DRIVERS=" + inside(installation.provider_setting)};
  return edits;
}

std::string shown_device_variable(unsigned index, const std::string& name) {
  return fmt::format("{}_{}={}", abi::kShownDevicesVariable, index, name);
}

std::string all_devices_variable() { return fmt::format("{}={}", abi::kShownDevicesVariable, kAllDevices); }

nlohmann::json container_specification(const ContainerEdits& edits, const std::string& device_class,
                                       const std::vector<std::string>& names) {
  nlohmann::json devices = nlohmann::json::array();
  devices.push_back(device(kAllDevices, all_devices_variable()));
  for (unsigned index = 0; index < names.size(); ++index) {
    if (!is_container_device_name(names[index])) continue;
    devices.push_back(device(names[index], shown_device_variable(index, names[index])));
  }
  nlohmann::json mounts = nlohmann::json::array();
  for (const ContainerMount& mount : edits.mounts) mounts.push_back(json_of(mount));
  return {{"cdiVersion", kSpecificationVersion},
          {"kind", fmt::format("{}/{}", kContainerVendor, device_class)},
          {"devices", std::move(devices)},
          {"containerEdits", {{"env", edits.environment}, {"mounts", std::move(mounts)}}}};
}

std::vector<std::string> podman_options(const ContainerEdits& edits) {
  std::vector<std::string> words;
  for (const ContainerMount& mount : edits.mounts) {
    const std::string outside = mount.outside.string();
    if (outside.find_first_of(" \t\n:,'\"\\*?[$") != std::string::npos) {
      throw Failure(fmt::format(
          "'{}' cannot be an option's part, for a character in it: use the specification that --write writes",
          outside));
    }
    words.push_back(fmt::format("--volume={}:{}:ro,nosuid,nodev{}", outside, mount.inside.string(),
                                mount.programs ? "" : ",noexec"));
  }
  for (const std::string& variable : edits.environment) words.push_back("--env=" + variable);
  return words;
}

}  // namespace urnic::cli
