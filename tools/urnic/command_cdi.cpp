// urnic cdi: prints or installs a specification by which containers ask for urnic's devices (Container Device
// Interface).
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "json/json.hpp"
#include "tools/urnic/commands.hpp"
#include "tools/urnic/container_devices.hpp"
#include "tools/urnic/device_process_answer.hpp"
#include "tools/urnic/failure.hpp"
#include "tools/urnic/named_run_directory.hpp"
#include "tools/urnic/specification_file.hpp"

namespace urnic::cli {

using command_line::Command;

namespace {

struct CdiOptions {
  std::string name;
  std::string device_class;
  std::string directory;
  bool write = false;
  bool remove = false;
  bool podman_options = false;
};

// In the order of the configuration.
std::vector<std::string> device_names(const std::string& name) {
  const nlohmann::json status = answer_of_device_process(name, {{"cmd", "status"}});
  std::vector<std::string> names;
  for (const auto& device : status.at("devices")) names.push_back(device.at("name").get<std::string>());
  return names;
}

void tell_of_left_out(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (is_container_device_name(name)) continue;
    fmt::print(stderr, "urnic: containers cannot ask for the device '{}' by its name, only for '{}'\n", name,
               kAllDevices);
  }
}

std::filesystem::path chosen_directory(const CdiOptions& options) {
  if (options.directory.empty()) return default_specification_directory();
  return std::filesystem::absolute(options.directory).lexically_normal();
}

// What to type next; only podman's own directories need no option.
void tell_of_written(const std::filesystem::path& file, const std::string& device_class) {
  const std::string directory = file.parent_path().string();
  const bool known = directory == "/etc/cdi" || directory == "/var/run/cdi" || directory == "/run/cdi";
  fmt::print("{}\nExample: podman {}run --device {}/{}={} IMAGE ibv_devices\n", file.string(),
             known ? "" : fmt::format("--cdi-spec-dir {} ", directory), kContainerVendor, device_class,
             kAllDevices);
  if (!known) {
    fmt::print(
        "podman before 5.5 has no such option and reads /etc/cdi and /var/run/cdi only: there, "
        "podman run $(urnic cdi --podman-options) IMAGE ibv_devices\n");
  }
}

void remove_written(const std::filesystem::path& file) {
  if (!remove_specification(file)) throw Failure(fmt::format("there is no {}", file.string()));
}

void cdi(const CdiOptions& options) {
  const std::string device_class =
      options.device_class.empty() ? default_device_class(options.name) : options.device_class;
  require_device_class(device_class);
  if (options.remove) return remove_written(specification_file(chosen_directory(options), device_class));
  const std::filesystem::path run_directory = named_run_directory(options.name);
  const std::vector<std::string> names = device_names(options.name);
  const ContainerEdits edits = container_edits(find_installation(), run_directory, device_class);
  if (options.podman_options) {
    for (const std::string& word : podman_options(edits)) fmt::print("{}\n", word);
    return;
  }
  tell_of_left_out(names);
  const std::string text = json_lines(container_specification(edits, device_class, names)) + "\n";
  if (!options.write) {
    fmt::print("{}", text);
    return;
  }
  const std::filesystem::path file = specification_file(chosen_directory(options), device_class);
  write_specification(file, text);
  tell_of_written(file, device_class);
}

}  // namespace

void add_cdi(Command& urnic) {
  auto options = std::make_shared<CdiOptions>();
  Command command =
      urnic.add_subcommand("cdi", "Print or install how containers get the devices (podman run --device)");
  add_name_option(command, options->name);
  command
      .add_option("--class", options->device_class,
                  "What stands behind urnic.dev/ in the devices' names; without it NAME, or nic")
      .type_name("CLASS");
  command.add_flag("--write", options->write, "Install the specification where container runtimes look");
  command.add_flag("--remove", options->remove, "Remove it again; no device process need run");
  command
      .add_option("--directory", options->directory,
                  "Where --write and --remove work; without it /var/run/cdi for root, else ~/.config/cdi")
      .type_name("DIR")
      .suggest("folder");
  command.add_flag("--podman-options", options->podman_options,
                   "Print the same as options of podman run, for one that finds no specification");
  command.option("--remove").excludes(command.option("--write"));
  command.option("--podman-options").excludes(command.option("--write")).excludes(command.option("--remove"));
  command.footer(
      "Example: urnic up && urnic cdi --write && podman run --device urnic.dev/nic=all IMAGE ibv_devices");
  command.callback([options] { cdi(*options); });
}

}  // namespace urnic::cli
