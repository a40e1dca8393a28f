// urnic env: the variables that `urnic run` sets, for a shell or a CI job that wants them itself.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "tools/urnic/commands.hpp"
#include "tools/urnic/environment.hpp"
#include "tools/urnic/run_directory.hpp"

namespace urnic::cli {
namespace {

struct EnvOptions {
  std::string name;
  bool json = false;
};

// Single-quoted for a POSIX shell.
std::string quoted(const std::string& value) {
  std::string result = "'";
  for (const char c : value) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

void env(const EnvOptions& options) {
  const auto variables = program_environment(find_installation(), run_directory(options.name));
  if (options.json) {
    fmt::print("{}\n", nlohmann::json(variables).dump(2));
    return;
  }
  for (const auto& [variable, value] : variables) fmt::print("export {}={}\n", variable, quoted(value));
}

}  // namespace

void add_env(CLI::App& urnic) {
  auto options = std::make_shared<EnvOptions>();
  CLI::App* command = urnic.add_subcommand("env", "Print the environment in which programs see the devices");
  add_name_option(*command, options->name);
  command->add_flag("--json", options->json, "As a JSON object");
  command->footer("Example: urnic up && eval \"$(urnic env)\" && ibv_devices");
  command->callback([options] { env(*options); });
}

}  // namespace urnic::cli
