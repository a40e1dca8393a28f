// urnic doctor: what on this machine would keep a program from working with urnic, and what to do.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "json/json.hpp"
#include "tools/urnic/commands.hpp"
#include "tools/urnic/device_process_start.hpp"
#include "tools/urnic/doctor/examinations.hpp"
#include "tools/urnic/failure.hpp"
#include "tools/urnic/named_run_directory.hpp"
#include "tools/urnic/progress.hpp"
#include "tools/urnic/subnet_wait.hpp"

namespace urnic::cli {
namespace {

using doctor::Finding;
using doctor::Findings;
using doctor::Severity;

struct DoctorOptions {
  std::string name;
  std::string command;
  std::string image;
  bool json = false;
  bool list_devices = false;
};

void append(Findings& all, Findings more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

// None while an engine is stuck: then the device process does not say.
std::vector<std::string> device_names(const nlohmann::json& status) {
  std::vector<std::string> names;
  for (const auto& device : status.at("devices")) names.push_back(device.at("name").get<std::string>());
  return names;
}

// Nothing, if there are no InfiniBand devices.
Findings examine_subnet(const nlohmann::json& status) {
  if (!status.contains("subnet")) return {};
  const nlohmann::json& subnet = status.at("subnet");
  Finding found{Severity::good, "InfiniBand", subnet_line(subnet), ""};
  for (const auto& port : subnet.at("ports")) {
    if (port.at("state") == "active") continue;
    found.severity = Severity::obstacle;
    found.remedy =
        "a port is of use when a subnet manager has made it active: 'urnic run -- opensm', or subnet_manager "
        "in "
        "the configuration (docs/infiniband.md)";
  }
  return {found};
}

// Starts a device process for as long as it takes, unless one runs.
Findings examine_device_process(const std::string& name) {
  Findings found;
  try {
    const Installation installation = find_installation();
    const std::filesystem::path directory = named_run_directory(name);
    found.push_back({Severity::good, "run directory", directory.string(), ""});
    AdminClient lease = connect_or_start(installation, {directory, {}, true, {}});
    found.push_back({Severity::good, "device process", "answers", ""});
    const nlohmann::json status = lease.ask({{"cmd", "status"}});
    append(found, doctor::examine_devices(installation, directory, device_names(status)));
    append(found, examine_subnet(status));
  } catch (const Failure& failure) {
    found.push_back({Severity::obstacle, "device process", failure.what(),
                     "see the lines above; 'urnicd --foreground' shows what the device process does"});
  }
  return found;
}

const char* word(Severity severity) {
  switch (severity) {
    case Severity::good:
      return "ok";
    case Severity::hint:
      return "hint";
    case Severity::obstacle:
      return "obstacle";
  }
  return "";
}

void print(const Findings& findings) {
  for (const Finding& finding : findings) {
    fmt::print("{:<9} {:<15} {}\n", word(finding.severity), finding.subject, finding.seen);
    if (!finding.remedy.empty()) fmt::print("{:<25} -> {}\n", "", finding.remedy);
  }
}

void print_json(const Findings& findings) {
  nlohmann::json list = nlohmann::json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"severity", word(finding.severity)},
                    {"subject", finding.subject},
                    {"seen", finding.seen},
                    {"remedy", finding.remedy}});
  }
  fmt::print("{}\n", json_lines({{"findings", list}}));
}

Findings examine_all(const DoctorOptions& options) {
  if (!options.image.empty()) return doctor::examine_image(options.image);
  const Progress progress("examining this machine");
  Findings findings = doctor::examine_kernel();
  append(findings, doctor::examine_limits());
  append(findings, doctor::examine_program_memory());
  append(findings, doctor::examine_network());
  append(findings, doctor::examine_library());
  append(findings, examine_device_process(options.name));
  if (!options.command.empty()) append(findings, doctor::examine_program(options.command));
  return findings;
}

void examine(const DoctorOptions& options) {
  if (options.list_devices) std::exit(doctor::list_devices());
  const Findings findings = examine_all(options);
  options.json ? print_json(findings) : print(findings);
  for (const Finding& finding : findings) {
    if (finding.severity == Severity::obstacle) std::exit(exit_failed);
  }
}

}  // namespace

void add_doctor(command_line::Command& urnic) {
  auto options = std::make_shared<DoctorOptions>();
  command_line::Command command =
      urnic.add_subcommand("doctor", "Say what would keep programs from working here, and what to do");
  add_name_option(command, options->name);
  command.add_flag("--json", options->json, "As a JSON object");
  command.add_flag("--list-devices", options->list_devices, "List what libibverbs sees, and nothing else");
  command
      .add_option(
          "--image", options->image,
          "Examine an image for containers instead of this machine: the folder of its root file system")
      .type_name("FOLDER")
      .suggest("folder");
  command.add_option("COMMAND", options->command, "A program to examine as well; it is not run")
      .suggest("program")
      .excludes(command.option("--image"));
  command.footer(
      "The exit status is 1 if there is an obstacle.\n"
      "Example: urnic doctor -- ib_write_bw");
  command.callback([options] { examine(*options); });
}

}  // namespace urnic::cli
