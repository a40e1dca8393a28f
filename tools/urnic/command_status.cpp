// urnic status: shows the devices of a running device process and the programs that use them.
#include <fmt/format.h>

#include <memory>

#include "tools/urnic/admin_client.hpp"
#include "tools/urnic/commands.hpp"
#include "tools/urnic/named_run_directory.hpp"

namespace urnic::cli {
namespace {

struct StatusOptions {
  std::string name;
  bool json = false;
};

// A JSON scalar as text, without quotes.
std::string plain(const nlohmann::json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string joined(const nlohmann::json& list) {
  std::string text;
  for (const auto& item : list) text += (text.empty() ? "" : ", ") + plain(item);
  return text;
}

void print_device(const nlohmann::json& device) {
  fmt::print("{}  link {}, MTU {}, MAC {}\n", plain(device.at("name")), plain(device.at("link")),
             plain(device.at("mtu")), plain(device.at("mac")));
  for (std::size_t index = 0; index < device.at("gids").size(); ++index) {
    fmt::print("  GID {}  {}\n", index, plain(device["gids"][index]));
  }
}

void print_context(const nlohmann::json& context) {
  std::string objects;
  for (const auto& [kind, count] : context.at("objects").items()) {
    if (count.get<int>() > 0)
      objects += fmt::format("{}{} {}", objects.empty() ? "" : ", ", count.get<int>(), kind);
  }
  fmt::print("  context {} on {}: {} (pid {}): {}\n", plain(context.at("id")), plain(context.at("device")),
             plain(context.at("program")), joined(context.at("pids")),
             objects.empty() ? "no objects" : objects);
}

void status(const StatusOptions& options) {
  const std::filesystem::path directory = named_run_directory(options.name);
  const nlohmann::json answer = connect_or_fail(directory).ask({{"cmd", "status"}});
  if (options.json) {
    fmt::print("{}\n", answer.dump(2));
    return;
  }
  fmt::print("device process {} in {}\n", plain(answer.at("pid")), directory.string());
  const nlohmann::json stuck = answer.at("engine").value("stuck", nlohmann::json::array());
  for (const auto& engine : stuck) fmt::print("STUCK: {}\n", plain(engine.at("what")));
  for (const auto& device : answer.at("devices")) print_device(device);
  if (!stuck.empty()) return;  // a stuck engine cannot say which contexts there are
  if (answer.at("contexts").empty()) fmt::print("no program uses a device\n");
  for (const auto& context : answer.at("contexts")) print_context(context);
}

}  // namespace

void add_status(CLI::App& urnic) {
  auto options = std::make_shared<StatusOptions>();
  CLI::App* command = urnic.add_subcommand("status", "Show devices, links and the programs that use them");
  add_name_option(*command, options->name);
  command->add_flag("--json", options->json, "As a JSON object");
  command->footer("Exit status 3 if none runs.\nExample: urnic status --json | jq '.contexts[].program'");
  command->callback([options] { status(*options); });
}

}  // namespace urnic::cli
