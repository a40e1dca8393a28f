// urnic env: prints the variables that `urnic run` sets, for a shell or a CI job that sets them itself.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>

#include "json/json.hpp"
#include "tools/urnic/admin_client.hpp"
#include "tools/urnic/commands.hpp"
#include "tools/urnic/environment.hpp"
#include "tools/urnic/failure.hpp"
#include "tools/urnic/named_run_directory.hpp"
#include "tools/urnic/program_network.hpp"

namespace urnic::cli {

using command_line::Command;

namespace {

struct EnvOptions {
  std::string name;
  std::string wrapper;
  bool json = false;
};

// Single-quoted for a POSIX shell.
std::string quoted(const std::string& value) {
  std::string result = "'";
  for (const char c : value) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string exports(const std::map<std::string, std::string>& variables) {
  std::string lines;
  for (const auto& [variable, value] : variables)
    lines += fmt::format("export {}={}\n", variable, quoted(value));
  return lines;
}

// The device process that runs now has a network for its programs, which no variable leads into.
bool has_network(const std::filesystem::path& run_directory) {
  auto running = AdminClient::connect(run_directory);
  try {
    return running && ProgramNetwork(*running).exists();
  } catch (const ConversationEnded&) {
    return false;
  }
}

// Writes a script that runs its arguments with the devices, for launchers that clear the environment.
void write_wrapper(const std::string& file, const std::map<std::string, std::string>& variables,
                   const std::string& prefix) {
  namespace fs = std::filesystem;
  std::ofstream stream(file);
  stream << "#!/bin/sh\n# " << file << " COMMAND [ARGUMENT...]: runs the command with urnic's RDMA devices.\n"
         << exports(variables) << "exec " << prefix << "\"$@\"\n";
  stream.close();
  if (!stream) throw Failure(fmt::format("cannot write {}: {}", file, std::strerror(errno)));
  const auto executable = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
  fs::permissions(file, executable, fs::perm_options::add);
}

void env(const EnvOptions& options) {
  const std::filesystem::path directory = named_run_directory(options.name);
  const auto variables = program_environment(find_installation(), directory);
  const bool network = has_network(directory);
  if (!options.wrapper.empty()) {
    const std::string urnic = std::filesystem::read_symlink("/proc/self/exe").string();
    return write_wrapper(options.wrapper, variables, network ? quoted(urnic) + " run -- " : "");
  }
  if (network) {
    fmt::print(stderr,
               "urnic: programs see the devices, but not their network interfaces, which variables cannot "
               "lead to: 'urnic run -- COMMAND' does, and what 'urnic env --wrapper' writes\n");
  }
  if (options.json) {
    fmt::print("{}\n", json_lines(variables));
    return;
  }
  fmt::print("{}", exports(variables));
}

}  // namespace

void add_env(Command& urnic) {
  auto options = std::make_shared<EnvOptions>();
  Command command = urnic.add_subcommand("env", "Print the environment in which programs see the devices");
  add_name_option(command, options->name);
  command
      .add_option("--wrapper", options->wrapper,
                  "Write a program that runs its arguments in this environment: for launchers that clear "
                  "it (env -i, sudo, mpirun)")
      .type_name("FILE")
      .suggest("file");
  command.add_flag("--json", options->json, "As a JSON object");
  command.footer("Example: urnic up && eval \"$(urnic env)\" && ibv_devices");
  command.callback([options] { env(*options); });
}

}  // namespace urnic::cli
