// urnic link: shows and changes the properties of the links between devices and switch.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "json/json.hpp"
#include "tools/urnic/commands.hpp"
#include "tools/urnic/device_process_answer.hpp"
#include "tools/urnic/lan_line.hpp"
#include "tools/urnic/named_run_directory.hpp"
#include "tools/urnic/setting_arguments.hpp"

namespace urnic::cli {

using command_line::Command;

namespace {

using nlohmann::json;

struct LinkOptions {
  std::string name;
  std::string device;
  std::string direction = "both";
  std::vector<std::string> settings;
  bool json = false;
};

std::string remarks(const json& settings, const json& defaults) {
  std::string text;
  for (const auto& [key, value] : settings.items()) {
    if (value == defaults.at(key)) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, json_text(value));
  }
  return text.empty() ? "a perfect wire" : text;
}

void print_counters(const json& counters) {
  for (const auto& [counter, value] : counters.items()) {
    if (value.get<std::uint64_t>() != 0) fmt::print("      {:<18} {:>14}\n", counter, json_text(value));
  }
}

void print_direction(const char* direction, const json& description, const json& defaults) {
  fmt::print("  {}  {}\n", direction, remarks(description.at("settings"), defaults));
  print_counters(description.at("counters"));
}

// Of a port that leads out of the device process.
void print_wire(const json& wire) {
  if (wire.at("kind") == "switch") return;
  std::string addresses;
  for (const json& address : wire.at("addresses"))
    addresses += (addresses.empty() ? "" : ", ") + address.get<std::string>();
  fmt::print("  wire  {} port {} of {} on {}, MTU {}\n", wire.at("kind").get<std::string>(),
             json_text(wire.at("port")), addresses, wire.at("interface").get<std::string>(),
             json_text(wire.at("interface_mtu")));
  print_counters(wire.at("counters"));
}

// The LAN that the switch is joined to, beyond the devices' links.
void print_lan(const json& lan) {
  fmt::print("{}, {} groups\n", lan_line(lan), json_text(lan.at("groups")));
  print_counters(lan.at("counters"));
  for (const auto& [gid, neighbour] : lan.at("neighbours").items())
    fmt::print("      {:<24} {} {}\n", gid, neighbour.value("mac", "-"),
               neighbour.at("state").get<std::string>());
}

void print_links(const json& answer, bool as_json) {
  const auto lan = answer.find("lan");
  if (as_json) {
    json shown = answer.at("links");
    if (lan != answer.end()) shown["lan"] = *lan;
    fmt::print("{}\n", json_lines(shown));
    return;
  }
  for (const auto& [device, link] : answer.at("links").items()) {
    if (link.contains("peer")) {
      fmt::print("{}  link {}, to {}\n", device, link.at("state").get<std::string>(),
                 link.at("peer").get<std::string>());
      continue;
    }
    fmt::print("{}  link {}\n", device, link.at("state").get<std::string>());
    print_wire(link.at("wire"));
    print_direction("tx", link.at("tx"), answer.at("defaults"));
    print_direction("rx", link.at("rx"), answer.at("defaults"));
  }
  if (lan != answer.end()) print_lan(*lan);
}

void show(const LinkOptions& options) {
  json request{{"cmd", "link"}};
  if (!options.device.empty()) request["device"] = options.device;
  print_links(answer_of_device_process(options.name, request), options.json);
}

void set(const LinkOptions& options) {
  const json request{{"cmd", "link"},
                     {"device", options.device},
                     {"direction", options.direction},
                     {"set", parse_settings(options.settings, "loss=0.01")}};
  print_links(answer_of_device_process(options.name, request), options.json);
}

void add_name(Command& command, LinkOptions& options) {
  add_name_option(command, options.name);
  command.add_flag("--json", options.json, "As a JSON object");
}

}  // namespace

void add_link(Command& urnic) {
  auto options = std::make_shared<LinkOptions>();
  Command command = urnic.add_subcommand("link", "Show or change what the links do to packets");
  command.require_subcommand();
  command.footer("Example: urnic link set urnic0 --direction tx loss=0.01 delay_us=5");

  Command shown = command.add_subcommand("show", "Settings that are not the default, and what was counted");
  shown.alias("list");
  shown.add_option("DEVICE", options->device, "Only this device's link; all: every link, the default")
      .suggest("device");
  add_name(shown, *options);
  shown.footer("Example: urnic link show --json | jq .urnic0.tx.counters.lost");
  shown.callback([options] { show(*options); });

  Command changed = command.add_subcommand("set", "Change settings; the others stay as they are");
  changed
      .add_option("DEVICE", options->device,
                  "Whose link; all: every device's; SWITCH:PORT, SWITCH: an InfiniBand switch's")
      .required()
      .suggest("device");
  changed.add_option("SETTING", options->settings, "KEY=VALUE, as docs/configuration.md lists under [[link]]")
      .required()
      .suggest("link-setting");
  changed.add_option("--direction", options->direction, "tx: device to switch, rx: switch to device, or both")
      .one_of({"tx", "rx", "both"});
  add_name(changed, *options);
  changed.footer(
      "Example: urnic link set urnic0 --direction tx loss=0.01 delay_us=5\n"
      "Example: urnic link set all rate_gbps=10 recovery=gbn\n"
      "Example: urnic link set urnic0 state=down\n"
      "Example: urnic link set 'urnic switch:2' state=down");
  changed.callback([options] { set(*options); });
}

}  // namespace urnic::cli
