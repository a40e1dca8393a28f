#include "tools/urnic/program_run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "tools/urnic/device_process_start.hpp"
#include "tools/urnic/ended_command.hpp"
#include "tools/urnic/environment.hpp"
#include "tools/urnic/failure.hpp"
#include "tools/urnic/fault_plan.hpp"
#include "tools/urnic/named_run_directory.hpp"
#include "tools/urnic/preload_check.hpp"
#include "tools/urnic/program_network.hpp"
#include "tools/urnic/signals.hpp"
#include "tools/urnic/subnet_wait.hpp"
#include "tools/urnic/wireshark_window.hpp"

namespace urnic::cli {

namespace {

std::filesystem::path program_of(const std::string& command) {
  auto program = find_command(command);
  if (!program) throw Failure(fmt::format("{}: no such command", command), exit_not_found);
  if (access(program->c_str(), X_OK) != 0) {
    throw Failure(fmt::format("{}: {}", program->string(), std::strerror(errno)), exit_not_executable);
  }
  return std::move(*program);
}

[[noreturn]] void become(const std::filesystem::path& program, const std::vector<std::string>& command,
                         const ProgramNetwork& network, const std::map<std::string, std::string>& variables,
                         const sigset_t& mask) {
  if (const std::string problem = network.enter(); !problem.empty()) {
    const std::string line = fmt::format("urnic: the devices' network: {}\n", problem);
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
    _exit(exit_run_failed);
  }
  for (const auto& [variable, value] : variables) setenv(variable.c_str(), value.c_str(), 1);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  std::vector<char*> words;
  words.reserve(command.size() + 1);
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(program.c_str(), words.data());
  const std::string line = fmt::format("urnic: {} cannot be started: {}\n", words[0], std::strerror(errno));
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
  _exit(exit_not_executable);
}

// A terminal sends Ctrl-C to the command itself, which is in the same process group; a signal that only urnic
// gets is passed on. SIGPIPE is about the capture's reader.
void pass_on(int signal, pid_t child) {
  if (signal != SIGINT && signal != SIGQUIT && signal != SIGCHLD && signal != SIGPIPE) kill(child, signal);
}

// One that has come before there was a command to get it, and means it; 0: none.
int signal_to_end(const SignalDescriptor& signals) {
  while (const int signal = signals.take())
    if (signal == SIGINT || signal == SIGQUIT || signal == SIGTERM || signal == SIGHUP) return signal;
  return 0;
}

// Returns the status of waitpid.
int wait_for(pid_t child, const SignalDescriptor& signals) {
  for (;;) {
    int status = 0;
    if (waitpid(child, &status, WNOHANG) == child) return status;
    pollfd look{signals.get(), POLLIN, 0};
    poll(&look, 1, -1);
    while (const int signal = signals.take()) pass_on(signal, child);
  }
}

// In one line, if there is anything to say.
void explain(AdminClient& lease, const SeenSoFar& before, const std::string& command, int status) {
  try {
    const std::string why = why_it_failed(command, status, before, take_lease(lease));
    if (!why.empty()) fmt::print(stderr, "urnic: {} {}\n", command, why);
  } catch (const Failure&) {  // the device process has ended, which programs have seen
  }
}

// Writes a capture on a thread of its own while the command runs.
class BackgroundCapture {
 public:
  // `name`: of the capture, for messages.
  BackgroundCapture(AdminClient client, const CaptureRequest& request, std::string name)
      : name_(std::move(name)),
        file_(std::make_unique<CaptureFile>(std::move(client), request)),
        stop_(eventfd(0, EFD_CLOEXEC)) {
    thread_ = std::thread([this] { write(); });
  }
  ~BackgroundCapture() {
    eventfd_write(stop_.get(), 1);
    thread_.join();
    if (!problem_.empty()) fmt::print(stderr, "urnic: {} ended early: {}\n", name_, problem_);
    if (dropped_ > 0) fmt::print(stderr, "urnic: {}: {} frames were lost\n", name_, dropped_);
  }

 private:
  void write() {
    try {
      file_->write_until(stop_.get());
    } catch (const std::exception& error) {
      problem_ = error.what();
    }
    dropped_ = file_->dropped();
    // Ends the capture, so that the devices do not wait for a file that takes no more.
    file_.reset();
  }

  std::string name_;
  std::unique_ptr<CaptureFile> file_;
  memory::Descriptor stop_;
  std::string problem_;
  std::uint64_t dropped_ = 0;
  std::thread thread_;
};

void capture_for_wireshark(std::optional<BackgroundCapture>& capture, AdminClient client,
                           const CaptureRequest& request) {
  try {
    capture.emplace(std::move(client), request, "the capture for Wireshark");
  } catch (const std::system_error&) {
    throw Failure("Wireshark has ended at once: start it by hand to see why");
  }
}

// In the devices' network a program that nothing can be preloaded into has the interfaces: ping, which has
// capabilities. Where there will be no such network, nothing is started for it.
bool may_have_network(const RunOptions& options, const std::filesystem::path& directory) {
  return options.network.network || !options.configuration.empty() ||
         AdminClient::connect(directory).has_value();
}

int run_to_its_end(const RunOptions& options) {
  const std::filesystem::path program = program_of(options.command.front());
  const std::optional<std::string> obstacle = preload_obstacle(program);
  const Installation installation = find_installation();
  const std::filesystem::path directory = named_run_directory(options.name);
  if (obstacle && !may_have_network(options, directory)) throw Failure(*obstacle, exit_not_executable);
  const StartOptions start{.run_directory = directory,
                           .configuration = options.configuration,
                           .until_unused = true,
                           .udp = options.udp,
                           .network = options.network.network,
                           .outside = options.network.outside,
                           .infiniband = options.infiniband.two_devices,
                           .ibsim_net = options.infiniband.ibsim_net,
                           .face = options.face};
  // Held until the command has ended: the device process stays while any lease is held.
  AdminClient lease = connect_or_start(installation, start);
  if (options.infiniband.any()) tell_of_built_in_manager(lease);
  const SeenSoFar before = take_lease(lease);
  const ProgramNetwork network(lease);
  if (obstacle && !network.exists()) throw Failure(*obstacle, exit_not_executable);
  if (options.network.network && !network.leads_outside() && isatty(STDERR_FILENO) == 1)
    fmt::print(stderr, "urnic: the programs' network has the devices only; --outside leads to others\n");

  CaptureRequest request = options.capture;
  std::optional<WiresharkWindow> window;
  if (options.wireshark) {
    window.emplace(directory);
    request.file = window->path();
    request.pcapng = true;
    // What is lost shows beside what was sent; arrivals would show each packet a second time.
    if (request.points.empty()) request.points = {"before", "dropped"};
  }
  const SignalDescriptor signals{SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCHLD, SIGPIPE};
  std::optional<BackgroundCapture> capture;
  if (options.wireshark) {
    capture_for_wireshark(capture, connect_or_fail(directory), request);
  } else if (!request.file.empty()) {
    capture.emplace(connect_or_fail(directory), request, "the capture " + request.file);
  }

  int ended_by = 0;
  const auto is_over = [&] { return (ended_by = signal_to_end(signals)) != 0; };
  if (const std::string problem = wait_for_active_ports(lease, directory, is_over); !problem.empty())
    fmt::print(stderr, "urnic: {}\n", problem);
  if (ended_by != 0) return 128 + ended_by;

  std::optional<TemporaryFaultPlan> faults;
  if (!options.faults.empty()) faults.emplace(lease, options.faults);

  const auto variables = program_environment(installation, directory);
  const pid_t child = fork();
  if (child < 0)
    throw Failure(fmt::format("no process can be started: {}", std::strerror(errno)), exit_run_failed);
  if (child == 0) become(program, options.command, network, variables, signals.mask_before());
  const int status = wait_for(child, signals);
  if (status != 0 && options.explains) explain(lease, before, options.command.front(), status);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

void run_program(const RunOptions& options) {
  int status = exit_run_failed;
  try {
    status = run_to_its_end(options);
  } catch (const Failure& failure) {
    throw Failure(failure.what(), failure.status() == exit_failed ? exit_run_failed : failure.status());
  } catch (const std::exception& error) {
    throw Failure(error.what(), exit_run_failed);
  }
  std::exit(status);
}

}  // namespace urnic::cli
