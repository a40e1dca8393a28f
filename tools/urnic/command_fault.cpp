// urnic fault: the fault plan of a running device process.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "json/json.hpp"
#include "tools/urnic/admin_client.hpp"
#include "tools/urnic/commands.hpp"
#include "tools/urnic/device_process_answer.hpp"
#include "tools/urnic/fault_plan.hpp"
#include "tools/urnic/named_run_directory.hpp"

namespace urnic::cli {

using command_line::Command;

namespace {

using nlohmann::json;

struct FaultOptions {
  std::string name;
  std::string file;
  bool json = false;
};

void print_plan(const json& plan, bool as_json) {
  if (as_json) {
    fmt::print("{}\n", json_lines(plan));
    return;
  }
  if (plan.is_null()) {
    fmt::print("no fault plan\n");
    return;
  }
  fmt::print("{}\n", plan.at("name").get<std::string>());
  for (const auto& rule : plan.at("rules")) {
    const auto matches = rule.at("matches").get<std::uint64_t>();
    fmt::print("  {:<40} {}\n", rule.at("name").get<std::string>(),
               matches == 0 ? "never matched" : fmt::format("matched {} packets", matches));
  }
}

void load(const FaultOptions& options) {
  AdminClient client = connect_or_fail(named_run_directory(options.name));
  const json plan = load_fault_plan(client, options.file);
  if (options.json) return print_plan(plan, true);
  fmt::print("{} rules of {} are in force\n", plan.at("rules").size(), options.file);
}

json ask(const FaultOptions& options, const char* what) {
  return answer_of_device_process(options.name, {{"cmd", "fault"}, {"do", what}}).at("plan");
}

void clear(const FaultOptions& options) {
  const json plan = ask(options, "clear");
  print_plan(plan, options.json);
  if (!plan.is_null()) tell_what_never_matched(plan);
}

void add_common(Command& command, FaultOptions& options) {
  add_name_option(command, options.name);
  command.add_flag("--json", options.json, "As a JSON object");
}

}  // namespace

void add_fault(Command& urnic) {
  auto options = std::make_shared<FaultOptions>();
  Command command = urnic.add_subcommand("fault", "Faults on command: which packets meet which fault");
  command.require_subcommand();
  command.footer("Example: urnic fault load plan.toml");

  Command loaded = command.add_subcommand("load", "Put a plan in force, in the place of the one before");
  loaded.add_option("FILE", options->file, "The plan, as docs/faults.md describes")
      .required()
      .existing_file()
      .suggest("file");
  add_common(loaded, *options);
  loaded.footer("Example: urnic fault load docs/faults/lumina-example.toml");
  loaded.callback([options] { load(*options); });

  Command listed = command.add_subcommand("list", "The plan in force and how often its rules have matched");
  add_common(listed, *options);
  listed.footer("Example: urnic fault list --json | jq '.rules[].matches'");
  listed.callback([options] { print_plan(ask(*options, "list"), options->json); });

  Command cleared = command.add_subcommand("clear", "End the plan, and say what never matched");
  add_common(cleared, *options);
  cleared.footer("Example: urnic fault clear");
  cleared.callback([options] { clear(*options); });
}

}  // namespace urnic::cli
