#include "tools/urnic/device_process_start.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tools/urnic/failure.hpp"
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

bool read_ready(int descriptor) {
  std::array<char, 16> bytes{};
  ssize_t size = 0;
  do {
    size = read(descriptor, bytes.data(), bytes.size());
  } while (size < 0 && errno == EINTR);
  return size > 0;
}

}  // namespace

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
  if (!read_ready(ready.get())) throw Failure("the device process did not get ready");
}

AdminClient connect_or_start(const Installation& installation, const StartOptions& options) {
  if (auto running = AdminClient::connect(options.run_directory)) {
    if (!options.configuration.empty() || !options.udp.empty()) {
      throw Failure(
          fmt::format("a device process runs in {} already, with its own configuration: end it with "
                      "'urnic down' or choose another --name",
                      options.run_directory.string()));
    }
    return std::move(*running);
  }
  std::string problem;
  try {
    start_device_process(installation, options);
  } catch (const Failure& failure) {
    problem = failure.what();  // perhaps another urnic was faster
  }
  for (int attempt = 0; attempt < 100; ++attempt) {
    if (auto running = AdminClient::connect(options.run_directory)) return std::move(*running);
    if (!problem.empty() && attempt >= 20) break;
    std::this_thread::sleep_for(10ms);
  }
  throw Failure(problem.empty() ? "the device process got ready but does not answer" : problem);
}

}  // namespace urnic::cli
