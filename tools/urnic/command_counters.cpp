// urnic counters: the devices' counters, under the kernel's names.
#include <fmt/format.h>

#include <memory>

#include "json/json.hpp"
#include "tools/urnic/commands.hpp"
#include "tools/urnic/device_process_answer.hpp"
#include "tools/urnic/named_run_directory.hpp"

namespace urnic::cli {

using command_line::Command;

namespace {

struct CounterOptions {
  std::string name;
  std::string device;
  bool all = false;
  bool json = false;
};

// Returns false if there was nothing to print.
bool print_counters(const std::string& of, const nlohmann::json& counters, bool all) {
  bool any = false;
  for (const auto& [counter, value] : counters.items()) {
    const auto count = value.get<std::uint64_t>();
    if (!all && count == 0) continue;
    fmt::print("{:<10} {:<32} {:>14}\n", of, counter, count);
    any = true;
  }
  return any;
}

void print_device(const std::string& device, const nlohmann::json& counters, bool all) {
  if (!print_counters(device, counters, all))
    fmt::print("{:<10} nothing has been counted (--all shows the zeros)\n", device);
}

void counters(const CounterOptions& options) {
  nlohmann::json request{{"cmd", "counters"}};
  if (!options.device.empty()) request["device"] = options.device;
  const nlohmann::json answer = answer_of_device_process(options.name, request);
  nlohmann::json devices = answer.at("devices");
  if (options.json) {
    if (answer.contains("switch")) devices["switch"] = answer.at("switch");
    fmt::print("{}\n", json_lines(devices));
    return;
  }
  for (const auto& [device, values] : devices.items()) print_device(device, values, options.all);
  if (answer.contains("switch")) print_counters("switch", answer.at("switch"), options.all);
}

}  // namespace

void add_counters(Command& urnic) {
  auto options = std::make_shared<CounterOptions>();
  Command command = urnic.add_subcommand("counters", "Show what the devices have counted");
  command.add_option("--device", options->device, "Only this device; all: every device, the default")
      .type_name("DEVICE")
      .suggest("device");
  command.add_flag("--all", options->all, "Also the counters that are zero");
  add_name_option(command, options->name);
  command.add_flag("--json", options->json, "As a JSON object, with the zeros");
  command.footer("Example: urnic counters --device urnic0 --json | jq .urnic0.out_of_sequence");
  command.callback([options] { counters(*options); });
}

}  // namespace urnic::cli
