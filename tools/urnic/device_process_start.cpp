#include "tools/urnic/device_process_start.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "json/json.hpp"
#include "tools/urnic/failure.hpp"
#include "tools/urnic/options_comparison.hpp"
#include "tools/urnic/progress.hpp"

namespace urnic::cli {
namespace {

using namespace std::chrono_literals;

// Long enough for a pair of commands in a script to share one device process, short enough not to be noticed.
constexpr auto kLinger = "1000";  // milliseconds

std::vector<std::string> arguments(const Installation& installation, const StartOptions& options, int ready) {
  std::vector<std::string> words{installation.device_process.string(), "--run-dir",
                                 options.run_directory.string(), "--ready-fd", std::to_string(ready)};
  if (!options.configuration.empty()) words.insert(words.end(), {"--config", options.configuration.string()});
  for (const std::string& address : options.udp) words.insert(words.end(), {"--udp", address});
  if (!options.face.empty()) words.insert(words.end(), {"--face", options.face});
  if (options.network) words.emplace_back("--network");
  if (options.outside) words.emplace_back("--outside");
  if (options.interfaces) words.emplace_back("--interfaces");
  if (options.infiniband) words.emplace_back("--infiniband");
  if (!options.ibsim_net.empty()) words.insert(words.end(), {"--ibsim-net", options.ibsim_net.string()});
  if (options.until_unused) words.insert(words.end(), {"--linger", kLinger});
  return words;
}

// In the child: everything that would tie the device process to the terminal or to the command goes.
[[noreturn]] void become_device_process(const std::vector<std::string>& words) {
  setsid();
  const int null = open("/dev/null", O_RDWR);
  dup2(null, STDIN_FILENO);
  dup2(null, STDOUT_FILENO);
  std::vector<char*> raw;
  raw.reserve(words.size() + 1);
  for (const std::string& word : words) raw.push_back(const_cast<char*>(word.c_str()));
  raw.push_back(nullptr);
  unsetenv("LD_PRELOAD");  // nested runs: the device process is not a program of its own fabric
  execv(raw[0], raw.data());
  const std::string line = fmt::format("urnic: {} cannot be started: {}\n", words[0], std::strerror(errno));
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
  _exit(exit_failed);
}

// What the started process has written before it closed the pipe; empty: it has failed.
std::string read_line(int descriptor) {
  std::array<char, 16> bytes{};
  ssize_t size = 0;
  do {
    size = read(descriptor, bytes.data(), bytes.size());
  } while (size < 0 && errno == EINTR);
  return {bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
}

// Returns once a device process is ready, this one or another.
void start_device_process(const Installation& installation, const StartOptions& options) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), 0) != 0) throw Failure(fmt::format("no pipe can be made: {}", std::strerror(errno)));
  memory::Descriptor ready(ends[0]);
  memory::Descriptor ready_in_child(ends[1]);
  fcntl(ready.get(), F_SETFD, FD_CLOEXEC);
  const std::vector<std::string> words = arguments(installation, options, ready_in_child.get());
  const pid_t child = fork();
  if (child < 0) throw Failure(fmt::format("no process can be started: {}", std::strerror(errno)));
  if (child == 0) {
    // Forked twice, so that the device process is nobody's zombie when it ends before us.
    if (fork() == 0) become_device_process(words);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  ready_in_child.reset();
  const Progress progress("waiting for the device process");
  if (read_line(ready.get()).empty()) throw Failure("the device process did not get ready");
}

// Empty: the device process is ending.
std::optional<AdminClient> join(AdminClient running, const StartOptions& options) {
  try {
    if (!options.configuration.empty() || !options.udp.empty() || !options.face.empty() || options.network ||
        options.interfaces || options.infiniband || !options.ibsim_net.empty()) {
      const std::string difference = what_differs(options, running.ask({{"cmd", "source"}}));
      if (!difference.empty()) {
        if (make_way(running)) return std::nullopt;
        throw Failure(
            fmt::format("a device process runs in {} {}. Choose another --name, or end that device process "
                        "with 'urnic down'",
                        options.run_directory.string(), difference));
      }
    }
    running.ask({{"cmd", options.until_unused ? "lease" : "keep"}});
    return running;
  } catch (const ConversationEnded&) {
    return std::nullopt;
  }
}

}  // namespace

// The connection ends when the process's sockets and files are gone.
bool make_way(AdminClient& running) {
  constexpr int kPatienceMs = 10'000;
  if (!running.ask({{"cmd", "make_way"}}).at("ends").get<bool>()) return false;
  pollfd end{running.descriptor(), POLLIN | POLLRDHUP, 0};
  poll(&end, 1, kPatienceMs);
  return true;
}

AdminClient connect_or_start(const Installation& installation, const StartOptions& options) {
  const auto deadline = std::chrono::steady_clock::now() + AdminClient::kPatience;
  do {
    auto running = AdminClient::connect(options.run_directory);
    if (!running) {
      start_device_process(installation, options);
      running = AdminClient::connect(options.run_directory);
    }
    if (running) {
      if (auto joined = join(std::move(*running), options)) return std::move(*joined);
    }
    std::this_thread::sleep_for(10ms);  // that one is ending
  } while (std::chrono::steady_clock::now() < deadline);
  throw Failure(
      fmt::format("no device process in {} can be used: each is starting or ending; see urnicd.log there",
                  options.run_directory.string()));
}

}  // namespace urnic::cli
