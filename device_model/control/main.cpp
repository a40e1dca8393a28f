// urnicd, the device process. `urnic run` and `urnic up` start it; run it by hand for debugging.
#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "command_line/command_line.hpp"
#include "device_model/abi/run_directory_layout.hpp"
#include "device_model/control/confinement/confinement.hpp"
#include "device_model/control/device_process.hpp"
#include "device_model/control/fabric/configuration.hpp"
#include "device_model/control/fabric/face.hpp"
#include "device_model/control/fabric/value_names.hpp"
#include "device_model/control/log/log.hpp"
#include "device_model/control/log/logging.hpp"
#include "device_model/control/objects/copier_parent.hpp"
#include "device_model/control/owned_run_directory.hpp"
#include "device_model/control/service_manager.hpp"
#include "device_model/control/subnet_manager/opensm.hpp"
#include "device_model/control/subnet_manager/program_parent.hpp"
#include "device_model/engine/loop/short_slice.hpp"
#include "trust/default_directory.hpp"

namespace {

using namespace urnic::control;

struct Options {
  std::string run_directory;
  std::string configuration;
  std::vector<std::string> udp;
  std::string face;
  bool network = false;
  bool outside = false;
  bool interfaces = false;
  bool infiniband = false;
  std::string ibsim_net;
  int ready_descriptor = -1;
  unsigned linger_ms = 0;
  bool foreground = false;
  bool debuggable = false;
};

constexpr std::initializer_list<int> kEndSignals{SIGTERM, SIGINT};

// Every program needs a few descriptors.
void raise_descriptor_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// When the kernel enlarges the descriptor table, all threads wait, 10 ms and more each time (synchronize_rcu
// in expand_fdtable). Before any thread starts it takes no time.
void enlarge_descriptor_table() {
  constexpr rlim_t kMost = 65'536;  // half a MiB
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const auto last = static_cast<int>(std::min(limit.rlim_cur, kMost)) - 1;
  close(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, last));
}

// Before any thread starts, so that all threads inherit the mask.
void block_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kEndSignals) sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

void tell(int descriptor, std::string_view line) {
  if (descriptor < 0) return;
  if (write(descriptor, line.data(), line.size()) < 0) log::warn("--ready-fd {} has no reader", descriptor);
  close(descriptor);
}

// Otherwise an inherited pipe or terminal stays open as long as the device process runs.
void leave_the_terminal() {
  setsid();
  std::signal(SIGHUP, SIG_IGN);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null < 0) return;
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null, descriptor);
  if (null > STDERR_FILENO) close(null);
}

// Paths of the command line are relative to the directory where the command was given.
void make_absolute(std::string& path) {
  if (!path.empty()) path = std::filesystem::absolute(path).lexically_normal().string();
}

// Commands that wait for the end see it now; the kernel closes the sockets themselves.
[[noreturn]] void end(std::vector<urnic::memory::Descriptor>& waiting, int status) {
  for (urnic::memory::Descriptor& socket : waiting) {
    shutdown(socket.get(), SHUT_RDWR);
    socket.release();
  }
  std::exit(status);
}

// A process that goes into the background is no service's main process: the variable is that of whoever
// started it.
void tell_that_programs_can_connect(const Options& options) {
  tell(options.ready_descriptor, "ready\n");
  if (!options.foreground) return;
  const std::string problem = tell_service_manager_ready();
  if (!problem.empty()) log::warn("the service manager is not told: {}", problem);
}

// A UDP wire joins multicast groups with sockets of their own; a LAN's peer is connected to again.
NeededSockets needed_sockets(const Configuration& configuration) {
  const auto& devices = configuration.devices;
  const bool udp = std::any_of(devices.begin(), devices.end(),
                               [](const auto& device) { return device.wire_kind == WireKind::udp; });
  const bool peer =
      configuration.lan && (configuration.lan->carrier.kind == urnic::link::CarrierKind::connect ||
                            configuration.lan->carrier.kind == urnic::link::CarrierKind::datagram);
  return {.groups = udp, .peer = peer};
}

void confine(NeededSockets sockets) {
  const std::string problem = allow_needed_calls_only(sockets);
  if (!problem.empty()) log::info("system calls are not restricted: {}", problem);
}

Configuration configuration_of(const Options& options) {
  if (options.network && options.interfaces)
    throw std::runtime_error(
        "--network and --interfaces: the interfaces are in one network namespace, so give one");
  const Face face = find_value<Face>(kFaceNames, options.face).value_or(Face::urnic);
  Configuration configuration = options.infiniband              ? infiniband_configuration()
                                : !options.ibsim_net.empty()    ? ibsim_configuration(options.ibsim_net)
                                : !options.udp.empty()          ? udp_configuration(options.udp, face)
                                : options.configuration.empty() ? default_configuration(face)
                                                                : load_configuration(options.configuration);
  if (options.network) configuration.interfaces = Interfaces::own_network;
  configuration.leads_outside |= options.outside;
  if (configuration.leads_outside && configuration.interfaces != Interfaces::own_network)
    throw std::runtime_error("--outside: only a network of the programs' own needs a way outside: --network");
  if (options.interfaces) configuration.interfaces = Interfaces::host;
  configuration.source.network = configuration.interfaces == Interfaces::own_network;
  configuration.source.outside = configuration.leads_outside;
  configuration.source.interfaces = configuration.interfaces == Interfaces::host;
  return configuration;
}

// What needs a capability that `drop_powers` drops. Null: nothing does.
std::unique_ptr<urnic::link::FrameCarrier> open_privileged(const Configuration& configuration) {
  if (!configuration.lan || !configuration.lan->is_interface()) return nullptr;
  return open_carrier(configuration.lan->carrier);
}

// The kernel stand-in of this installation, beside this program.
std::filesystem::path kernel_stand_in() {
  const std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const auto way = std::filesystem::path(URNIC_PLUGINDIR).lexically_relative(URNIC_LIBEXECDIR);
  return (here / way / "liburnic-kernel.so").lexically_normal();
}

// Puts who manages the InfiniBand fabric into the configuration. Null: it is no program. Forks.
std::unique_ptr<ProgramParent> prepare_manager(Configuration& configuration,
                                               const std::string& run_directory) {
  if (configuration.subnet_manager == ManagerChoice::none) return nullptr;
  const char* const search_path = std::getenv("PATH");
  const auto opensm = find_opensm(search_path != nullptr ? search_path : "");
  configuration.subnet_manager = resolve_manager(configuration.subnet_manager, opensm);
  if (configuration.subnet_manager != ManagerChoice::opensm) return nullptr;
  const std::filesystem::path stand_in = kernel_stand_in();
  if (!std::filesystem::exists(stand_in))
    throw std::runtime_error(fmt::format(
        "opensm cannot be started on urnic's devices: {} is missing; build or install urnic whole",
        stand_in.string()));
  const auto folder = std::filesystem::path(run_directory) / urnic::abi::kOpensmFolder;
  return ProgramParent::fork(opensm_start(*opensm, folder, stand_in, configuration));
}

// What the process is made of.
struct Beginning {
  Configuration configuration;
  OpenedBefore opened;
  std::unique_ptr<ProgramParent> manager;  // null: it is no program
  std::string not_dropped;
};

[[noreturn]] void serve(const Options& options, Beginning beginning, CopierParent& copiers) {
  const Configuration& configuration = beginning.configuration;
  std::vector<urnic::memory::Descriptor> waiting;  // closed when the directory is gone
  std::optional<OwnedRunDirectory> directory(std::in_place, options.run_directory);
  start_logging(directory->log_file(), configuration.log_level, options.foreground);
  if (!beginning.not_dropped.empty()) log::info("{}", beginning.not_dropped);
  {
    DeviceProcessOptions process_options;
    if (options.linger_ms != 0) process_options.linger = std::chrono::milliseconds(options.linger_ms);
    process_options.refuse_own_process = true;
    process_options.copiers = &copiers;
    process_options.manager = beginning.manager.get();
    process_options.end_at_once = [&](const std::string& reason) {
      log::critical("ends at once: {}", reason);
      directory->keep_log();
      directory.reset();
      _exit(EXIT_FAILURE);
    };
    DeviceProcess process(*directory, configuration, process_options, std::move(beginning.opened));
    process.stop_on_signals(kEndSignals);
    log::info("urnicd {} (pid {}) serves {} devices in {}", URNIC_VERSION, getpid(),
              configuration.devices.size(), directory->path().string());
    urnic::engine::ask_for_slices(urnic::engine::Slices::small);
    confine(needed_sockets(configuration));
    tell_that_programs_can_connect(options);
    if (!options.foreground) leave_the_terminal();
    process.run();
    waiting = process.take_waiting();
  }
  beginning.manager.reset();  // its files are in the directory
  if (has_logged_a_problem()) directory->keep_log();
  spdlog::shutdown();
  directory.reset();
  end(waiting, EXIT_SUCCESS);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  urnic::command_line::CommandLine app(
      "The urnic device process: RDMA devices made of software. 'urnic run' starts it.");
  app.version(URNIC_VERSION);
  app.add_option("--run-dir", options.run_directory,
                 "Directory of sockets and sysfs files (default: $URNIC_DIR, else one of this user's own)");
  const urnic::command_line::Option config =
      app.add_option("--config", options.configuration, "TOML file, see docs/configuration.md");
  app.add_option("--udp", options.udp,
                 "A device on UDP port 4791 of this address of the host, see docs/wires.md; may be repeated")
      .excludes(config);
  app.add_option(
         "--face", options.face,
         "As what programs see the devices, see docs/mlx5-face.md; in a file of --config it is a setting")
      .one_of({kFaceNames.begin(), kFaceNames.end()})
      .excludes(config);
  app.add_flag(
      "--network", options.network,
      "A network interface for each device, in a network namespace for the programs, see docs/network.md");
  app.add_flag("--outside", options.outside,
               "A way from that namespace to the networks of this host, by slirp4netns");
  app.add_flag("--interfaces", options.interfaces, "The same in this process's network namespace");
  app.add_flag("--infiniband", options.infiniband,
               "Two InfiniBand devices and a subnet manager, see docs/infiniband.md");
  app.add_option("--ibsim-net", options.ibsim_net,
                 "InfiniBand switches and devices of a file in ibsim's format, and a subnet manager")
      .excludes(app.option("--infiniband"));
  for (const char* const other : {"--config", "--udp", "--face", "--network", "--interfaces"}) {
    app.option("--infiniband").excludes(app.option(other));
    app.option("--ibsim-net").excludes(app.option(other));
  }
  app.add_option(
      "--ready-fd", options.ready_descriptor,
      "Descriptor that gets a line: 'ready' once programs can connect, 'in use' if another device process "
      "has the run directory");
  app.add_option("--linger", options.linger_ms,
                 "Exit this many milliseconds after the last program; 0: stay (default)");
  app.add_flag("--foreground", options.foreground, "Stay on the terminal and log to it, too");
  app.add_flag("--debuggable", options.debuggable,
               "Let debuggers and other programs of this user look into it, and let it dump core");
  app.footer("Example: urnicd --foreground --run-dir /tmp/lab");
  if (int status = 0; !app.parse(argc, argv, status)) return status;

  close_inherited(options.ready_descriptor);
  raise_descriptor_limit();
  enlarge_descriptor_table();
  block_signals();
  try {
    if (options.run_directory.empty()) options.run_directory = urnic::trust::chosen_run_directory().string();
    make_absolute(options.run_directory);
    make_absolute(options.configuration);
    Beginning beginning{
        .configuration = configuration_of(options), .opened = {}, .manager = nullptr, .not_dropped = ""};
    beginning.opened.network = open_host_network(beginning.configuration);
    beginning.opened.lan = open_privileged(beginning.configuration);
    beginning.not_dropped = drop_powers(options.debuggable);
    const auto copiers = CopierParent::start();
    beginning.manager = prepare_manager(beginning.configuration, options.run_directory);
    serve(options, std::move(beginning), *copiers);
  } catch (const RunDirectoryInUse& error) {
    // Of commands that begin at the same time one starts the device process, and the others join it.
    if (options.ready_descriptor < 0) fmt::print(stderr, "urnicd: {}\n", error.what());
    tell(options.ready_descriptor, "in use\n");
    return EXIT_FAILURE;
  } catch (const std::exception& error) {
    fmt::print(stderr, "urnicd: {}\n", error.what());
    return EXIT_FAILURE;
  }
}
