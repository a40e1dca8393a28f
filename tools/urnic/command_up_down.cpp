// urnic up, urnic down: start a device process that stays, and end it.
#include <fmt/format.h>
#include <poll.h>

#include <memory>

#include "json/json.hpp"
#include "tools/urnic/admin_client.hpp"
#include "tools/urnic/commands.hpp"
#include "tools/urnic/device_process_start.hpp"
#include "tools/urnic/face_option.hpp"
#include "tools/urnic/failure.hpp"
#include "tools/urnic/infiniband_option.hpp"
#include "tools/urnic/named_run_directory.hpp"
#include "tools/urnic/network_option.hpp"
#include "tools/urnic/progress.hpp"
#include "tools/urnic/subnet_wait.hpp"
#include "tools/urnic/udp_option.hpp"

namespace urnic::cli {

using command_line::Command;

namespace {

struct UpOptions {
  std::string name;
  std::string configuration;
  std::vector<std::string> udp;
  std::string face;
  NetworkOptions network;
  bool interfaces = false;
  InfinibandOptions infiniband;
};

void up(const UpOptions& options) {
  const Installation installation = find_installation();
  const std::filesystem::path directory = named_run_directory(options.name);
  const bool was_running = AdminClient::connect(directory).has_value();
  AdminClient client = connect_or_start(installation, {.run_directory = directory,
                                                       .configuration = options.configuration,
                                                       .udp = options.udp,
                                                       .network = options.network.network,
                                                       .outside = options.network.outside,
                                                       .interfaces = options.interfaces,
                                                       .infiniband = options.infiniband.two_devices,
                                                       .ibsim_net = options.infiniband.ibsim_net,
                                                       .face = options.face});
  const nlohmann::json now = client.ask({{"cmd", "status"}});
  fmt::print("{} in {} (pid {})\n", was_running ? "runs already" : "running", directory.string(),
             now.at("pid").get<long>());
  if (const std::string problem = wait_for_active_ports(client, directory); !problem.empty())
    throw Failure(problem);
  if (options.infiniband.any()) tell_of_built_in_manager(client);
}

// The connection ends with the process, when its sockets and files are gone.
void wait_for_end(const AdminClient& client) {
  constexpr int kPatience = 60'000;  // ms; hundreds of devices have a hundred thousand files
  pollfd end{client.descriptor(), POLLIN | POLLRDHUP, 0};
  if (poll(&end, 1, kPatience) == 0)
    throw Failure(
        "the device process was told to end and has not within 60 s: see urnicd.log in its run directory");
}

void down(const std::string& name) {
  const Progress progress("waiting for the end of the device process");
  AdminClient client = connect_or_fail(named_run_directory(name));
  client.ask({{"cmd", "down"}});
  wait_for_end(client);
}

}  // namespace

void add_up(Command& urnic) {
  auto options = std::make_shared<UpOptions>();
  Command command = urnic.add_subcommand("up", "Start a device process that stays until 'urnic down'");
  add_name_option(command, options->name);
  command
      .add_option("--config", options->configuration,
                  "Devices and limits, as docs/configuration.md describes")
      .existing_file()
      .type_name("FILE")
      .suggest("file");
  add_udp_option(command, options->udp);
  add_face_option(command, options->face);
  add_network_options(command, options->network);
  command.add_flag("--interfaces", options->interfaces,
                   "A network interface for each device beside this host's own; needs CAP_NET_ADMIN");
  command.option("--interfaces").excludes(command.option("--network"));
  add_infiniband_options(command, options->infiniband);
  for (const char* const option : {"--infiniband", "--ibsim-net"})
    command.option(option).excludes(command.option("--interfaces"));
  command.footer("Example: urnic up && urnic run -- ibv_devices; urnic down");
  command.callback([options] { up(*options); });
}

void add_down(Command& urnic) {
  auto name = std::make_shared<std::string>();
  Command command = urnic.add_subcommand("down", "End a device process; programs on it see a dead device");
  add_name_option(command, *name);
  command.footer("Exit status 3 if none runs.\nExample: urnic down --name lab");
  command.callback([name] { down(*name); });
}

}  // namespace urnic::cli
