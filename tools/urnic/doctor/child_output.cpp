#include "tools/urnic/doctor/child_output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>

#include "device_model/memory/descriptor.hpp"

namespace urnic::cli::doctor {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kPatience{10};
constexpr std::size_t kMostBytes = 64 << 10;

struct Stream {
  memory::Descriptor read_end;
  memory::Descriptor write_end;
};

Stream make_stream() {
  std::array<int, 2> ends{-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) ends = {-1, -1};
  return {memory::Descriptor(ends[0]), memory::Descriptor(ends[1])};
}

[[noreturn]] void become(const std::vector<std::string>& words,
                         const std::map<std::string, std::string>& variables, int output, int errors) {
  for (const auto& [variable, value] : variables) setenv(variable.c_str(), value.c_str(), 1);
  dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  std::vector<char*> raw;
  raw.reserve(words.size() + 1);
  for (const std::string& word : words) raw.push_back(const_cast<char*>(word.c_str()));
  raw.push_back(nullptr);
  execv(raw[0], raw.data());
  _exit(127);
}

// False at the end of the stream.
bool read_some(int descriptor, std::string& text) {
  std::array<char, 4096> bytes{};
  const ssize_t size = read(descriptor, bytes.data(), bytes.size());
  if (size <= 0) return false;
  if (text.size() < kMostBytes) text.append(bytes.data(), static_cast<std::size_t>(size));
  return true;
}

// Until both streams have ended. False if that takes too long.
bool read_all(int output, int errors, ChildOutput& result) {
  const auto end = Clock::now() + kPatience;
  std::array<pollfd, 2> streams{pollfd{output, POLLIN, 0}, pollfd{errors, POLLIN, 0}};
  while (streams[0].fd >= 0 || streams[1].fd >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return false;
    poll(streams.data(), streams.size(), static_cast<int>(left));
    if (streams[0].revents != 0 && !read_some(output, result.output)) streams[0].fd = -1;
    if (streams[1].revents != 0 && !read_some(errors, result.errors)) streams[1].fd = -1;
  }
  return true;
}

}  // namespace

ChildOutput output_of(const std::vector<std::string>& words,
                      const std::map<std::string, std::string>& variables) {
  ChildOutput result;
  Stream output = make_stream();
  Stream errors = make_stream();
  const pid_t child = fork();
  if (child < 0) return result;
  if (child == 0) become(words, variables, output.write_end.get(), errors.write_end.get());
  output.write_end.reset();
  errors.write_end.reset();
  if (!read_all(output.read_end.get(), errors.read_end.get(), result)) kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status)) result.status = WEXITSTATUS(status);
  return result;
}

}  // namespace urnic::cli::doctor
