// urnic gid: shows and changes a device's addresses while it runs.
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "json/json.hpp"
#include "tools/urnic/commands.hpp"
#include "tools/urnic/device_process_answer.hpp"
#include "tools/urnic/named_run_directory.hpp"
#include "wire/ethernet.hpp"

namespace urnic::cli {

using command_line::Command;

namespace {

struct GidOptions {
  std::string name;
  std::string device;
  std::string gid;
  std::optional<std::uint32_t> vlan;
  bool json = false;
};

void ask(const GidOptions& options, const char* change) {
  nlohmann::json request{{"cmd", "gid"}};
  if (!options.device.empty()) request["device"] = options.device;
  if (change != nullptr) request[change] = options.gid;
  if (options.vlan) request["vlan"] = *options.vlan;
  const auto answer = answer_of_device_process(options.name, request);
  if (options.json) {
    fmt::print("{}\n", json_lines(answer.at("gids")));
    return;
  }
  for (const auto& [device, gids] : answer.at("gids").items()) {
    const auto& vlans = answer.at("vlans").at(device);
    for (const auto& [index, gid] : gids.items()) {
      const auto vlan = vlans.find(index);
      const std::string of_vlan = vlan != vlans.end() ? fmt::format("  VLAN {}", vlan->get<int>()) : "";
      fmt::print("{} {:>2}  {}{}\n", device, index, gid.get<std::string>(), of_vlan);
    }
  }
}

void add_common_options(Command& command, GidOptions& options) {
  add_name_option(command, options.name);
  command.add_flag("--json", options.json, "As a JSON object");
}

Command add_change(Command& command, const char* change, const char* help, const char* example,
                   const std::shared_ptr<GidOptions>& options) {
  Command changed = command.add_subcommand(change, help);
  changed.add_option("DEVICE", options->device, "Whose address it is").required().suggest("one-device");
  changed.add_option("GID", options->gid, "An IPv6 address, or an IPv4 one as ::ffff:192.0.2.7").required();
  add_common_options(changed, *options);
  changed.footer(example);
  changed.callback([options, change] { ask(*options, change); });
  return changed;
}

}  // namespace

void add_gid(Command& urnic) {
  auto options = std::make_shared<GidOptions>();
  Command command = urnic.add_subcommand("gid", "Show or change the devices' addresses");
  command.require_subcommand();
  command.footer("Example: urnic gid add urnic0 ::ffff:192.0.2.77");
  Command shown = command.add_subcommand("show", "The GID tables: device, index, address");
  shown.add_option("DEVICE", options->device, "Only this device's; all: every device's, the default")
      .suggest("device");
  add_common_options(shown, *options);
  shown.footer("Example: urnic gid show urnic0");
  shown.callback([options] { ask(*options, nullptr); });
  Command added = add_change(command, "add", "Give a device one more address",
                             "Example: urnic gid add urnic0 ::ffff:192.0.2.77", options);
  added.add_option("--vlan", options->vlan, "Its packets have the tag of this VLAN")
      .type_name("ID")
      .between(1, int{wire::kLastVlan});
  add_change(command, "remove", "Take an address from a device; connections that use it go on",
             "Example: urnic gid remove urnic0 ::ffff:192.0.2.77", options);
}

}  // namespace urnic::cli
