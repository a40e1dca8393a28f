#include "device_model/control/subnet_manager/opensm.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <system_error>

#include "device_model/abi/run_directory_layout.hpp"
#include "device_model/control/fabric/planned_devices.hpp"

namespace urnic::control {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSystemFolders = "/usr/local/sbin:/usr/sbin:/sbin";
// opensm begins its log anew at this size.
constexpr const char* kLogMegabytes = "4";

bool is_program(const fs::path& file) {
  std::error_code problem;
  return fs::is_regular_file(file, problem) && access(file.c_str(), X_OK) == 0;
}

std::optional<fs::path> find_in(std::string_view folders) {
  while (!folders.empty()) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    const fs::path file = fs::path(folders.substr(0, end)) / "opensm";
    if (file.is_absolute() && is_program(file)) return file;
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return {};
}

// An InfiniBand port's GUID is the node's (subnet/node.cpp).
std::string guid_of(const DeviceSettings& device) {
  std::string text = "0x";
  for (const std::uint8_t byte : node_guid_of(device)) text += fmt::format("{:02x}", byte);
  return text;
}

bool has_cable(const subnet::FabricPlan& plan, const DeviceSettings& device) {
  const subnet::PortPlace port{device.fabric_node, 1};
  return std::any_of(plan.links().begin(), plan.links().end(), [&](const subnet::PlannedLink& link) {
    return link.is_plugged && (link.one == port || link.other == port);
  });
}

// From there the manager reaches the fabric. Adapters of a real fabric may have their cable at another port.
const DeviceSettings& device_of_manager(const Configuration& configuration) {
  const auto& devices = configuration.devices;
  const auto connected = std::find_if(devices.begin(), devices.end(), [&](const DeviceSettings& device) {
    return is_infiniband(device) && has_cable(configuration.fabric, device);
  });
  return connected != devices.end() ? *connected
                                    : *std::find_if(devices.begin(), devices.end(), is_infiniband);
}

}  // namespace

std::optional<fs::path> find_opensm(std::string_view search_path) {
  if (auto found = find_in(search_path)) return found;
  return find_in(kSystemFolders);
}

ManagerChoice resolve_manager(ManagerChoice wanted, const std::optional<fs::path>& opensm) {
  if (wanted == ManagerChoice::opensm && !opensm)
    throw std::runtime_error(
        "subnet_manager = \"opensm\": opensm is not installed (Debian's package opensm has it); "
        "\"automatic\" "
        "takes the built-in manager then");
  if (wanted != ManagerChoice::automatic) return wanted;
  return opensm ? ManagerChoice::opensm : ManagerChoice::built_in;
}

// Files that are named and do not exist leave opensm with its defaults.
ProgramStart opensm_start(const fs::path& opensm, const fs::path& folder, const fs::path& stand_in,
                          const Configuration& configuration) {
  ProgramStart start;
  start.name = "opensm";
  start.words = {opensm.string(),
                 "--guid",
                 guid_of(device_of_manager(configuration)),
                 "--log_file",
                 (folder / abi::kOpensmLog).string(),
                 "--log_limit",
                 kLogMegabytes,
                 "--debug",  // writes each line at once: it is killed in the end
                 "2",
                 "--config",
                 (folder / "opensm.conf").string(),
                 "--Pconfig",
                 (folder / "partitions.conf").string(),
                 "--prefix_routes_file",
                 (folder / "prefix-routes.conf").string()};
  start.words.insert(start.words.end(), configuration.opensm_options.begin(),
                     configuration.opensm_options.end());
  start.variables = {{abi::kRunDirectoryVariable, folder.parent_path().string()},
                     // Whatever the program sees for which the device process was started.
                     {abi::kShownDevicesVariable, "all"},
                     {"LD_PRELOAD", stand_in.string()},
                     {"OSM_TMP_DIR", folder.string()},
                     {"OSM_CACHE_DIR", folder.string()},
                     // As for all programs of urnic run.
                     {"ASAN_OPTIONS", "verify_asan_link_order=0"}};
  return start;
}

}  // namespace urnic::control
