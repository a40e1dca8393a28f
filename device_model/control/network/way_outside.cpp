#include "device_model/control/network/way_outside.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace urnic::control {
namespace {

constexpr const char* kProgram = "slirp4netns";
constexpr int kPatienceMs = 10'000;
constexpr std::size_t kLongestComplaint = 2000;

struct Pipe {
  memory::Descriptor read_end;
  memory::Descriptor write_end;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    throw std::runtime_error(fmt::format("the way outside: {}", std::strerror(errno)));
  return {memory::Descriptor(ends[0]), memory::Descriptor(ends[1])};
}

// A descriptor that exec leaves open, and as the file of that name.
std::string passed_on(int descriptor) {
  fcntl(descriptor, F_SETFD, 0);
  return std::to_string(descriptor);
}
std::string as_file(const memory::Descriptor& descriptor) {
  return "/proc/self/fd/" + passed_on(descriptor.get());
}

// Its own sandbox needs a user number 0 in the user namespace, which an ordinary user's has not.
std::vector<std::string> words_for(const NetworkNamespace& place, int end, int ready) {
  std::vector<std::string> words{kProgram,
                                 "--configure",
                                 "--mtu=65520",
                                 "--disable-host-loopback",
                                 "--exit-fd=" + passed_on(end),
                                 "--ready-fd=" + passed_on(ready),
                                 "--netns-type=path"};
  if (place.user) {
    words.push_back("--userns-path=" + as_file(place.user));
  } else {
    words.insert(words.end(), {"--enable-sandbox", "--enable-seccomp"});
  }
  words.push_back(as_file(place.network));
  words.emplace_back(kOutsideInterface);
  return words;
}

// Signals to the device process's terminal are not for it: it ends by its descriptor.
[[noreturn]] void become_it(const std::vector<std::string>& words, int said) {
  setsid();
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(null, STDIN_FILENO);
  dup2(said, STDOUT_FILENO);
  dup2(said, STDERR_FILENO);
  std::vector<char*> raw;
  raw.reserve(words.size() + 1);
  for (const std::string& word : words) raw.push_back(const_cast<char*>(word.c_str()));
  raw.push_back(nullptr);
  execvp(raw[0], raw.data());
  const std::string why = errno == ENOENT ? "it is not installed" : std::strerror(errno);
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, why.data(), why.size());
  _exit(EXIT_FAILURE);
}

std::string text_in(const memory::Descriptor& file) {
  std::string text(kLongestComplaint, '\0');
  const ssize_t size = pread(file.get(), text.data(), text.size(), 0);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

bool becomes_ready(const memory::Descriptor& ready) {
  pollfd look{ready.get(), POLLIN, 0};
  int found = 0;
  do {
    found = poll(&look, 1, kPatienceMs);
  } while (found < 0 && errno == EINTR);
  char byte = 0;
  return found > 0 && read(ready.get(), &byte, 1) == 1;
}

}  // namespace

memory::Descriptor open_way_outside(const NetworkNamespace& place) {
  Pipe end = make_pipe();
  Pipe ready = make_pipe();
  const memory::Descriptor said(memfd_create("urnic-way-outside", MFD_CLOEXEC));
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error(fmt::format("the way outside: fork: {}", std::strerror(errno)));
  if (child == 0) {
    // Forked twice, so that it is nobody's zombie when it ends.
    if (fork() == 0) become_it(words_for(place, end.read_end.get(), ready.write_end.get()), said.get());
    _exit(0);
  }
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  end.read_end.reset();
  ready.write_end.reset();
  if (!becomes_ready(ready.read_end))
    throw std::runtime_error(
        fmt::format("the programs' network has no way outside: {}: {}", kProgram, text_in(said)));
  return std::move(end.write_end);
}

}  // namespace urnic::control
