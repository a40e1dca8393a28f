#include "tools/urnic/wireshark_window.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "tools/urnic/failure.hpp"
#include "tools/urnic/installation.hpp"
#include "tools/urnic/preload_check.hpp"
#include "tools/urnic/wireshark_folders.hpp"

namespace urnic::cli {
namespace {

bool is_set(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

// The profile and the dissector, as far as they are there.
std::vector<std::string> wireshark_command() {
  std::vector<std::string> words{"wireshark", "-k", "-i", "-"};
  const WiresharkFolders own = wireshark_folders();
  if (std::filesystem::exists(own.profile)) words.insert(words.end(), {"-C", "urnic"});
  if (std::filesystem::exists(own.dissector)) return words;
  // Wireshark loads its user's plugins by itself, and refuses a second one of the same name.
  try {
    words.insert(words.end(), {"-X", "lua_script:" + find_wireshark_installation().dissector.string()});
  } catch (const Failure&) {
    // The component is not installed: selective acknowledges are a vendor's packets then.
  }
  return words;
}

[[noreturn]] void become_wireshark(const std::vector<std::string>& command, int pipe) {
  // Ctrl-C in this terminal ends the program, not the window.
  setsid();
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nothing = open("/dev/null", O_WRONLY);
  dup2(pipe, STDIN_FILENO);
  dup2(nothing, STDOUT_FILENO);
  dup2(nothing, STDERR_FILENO);
  std::vector<char*> words;
  words.reserve(command.size() + 1);
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  _exit(exit_not_executable);
}

memory::Descriptor open_window() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    throw Failure(fmt::format("no pipe to Wireshark: {}", std::strerror(errno)));
  memory::Descriptor read_end(ends[0]);
  memory::Descriptor write_end(ends[1]);
  const std::vector<std::string> command = wireshark_command();
  // Twice, so that the window is nobody's child: it is not waited for.
  const pid_t child = fork();
  if (child == 0) {
    const pid_t window = fork();
    if (window == 0) become_wireshark(command, read_end.get());
    _exit(window < 0 ? exit_failed : exit_ok);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
    throw Failure(fmt::format("Wireshark cannot be started: {}", std::strerror(errno)));
  return write_end;
}

memory::Descriptor open_named_pipe(const std::filesystem::path& run_directory) {
  const std::filesystem::path path = run_directory / "wireshark.pcapng";
  unlink(path.c_str());
  if (mkfifo(path.c_str(), 0600) != 0)
    throw Failure(fmt::format("{}: no pipe can be made: {}", path.string(), std::strerror(errno)));
  fmt::print(stderr,
             "urnic: Wireshark has no display here, or is not installed. The command starts when this pipe "
             "is read:\n"
             "  wireshark -k -i {0}\n"
             "  ssh THIS-HOST cat {0} | wireshark -k -i -\n",
             path.string());
  memory::Descriptor pipe(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  const int error = errno;
  unlink(path.c_str());
  if (!pipe) throw Failure(fmt::format("{}: {}", path.string(), std::strerror(error)));
  return pipe;
}

}  // namespace

WiresharkWindow::WiresharkWindow(const std::filesystem::path& run_directory) {
  const bool has_display = is_set("DISPLAY") || is_set("WAYLAND_DISPLAY");
  pipe_ = has_display && find_command("wireshark") ? open_window() : open_named_pipe(run_directory);
}

std::string WiresharkWindow::path() const { return fmt::format("/proc/self/fd/{}", pipe_.get()); }

}  // namespace urnic::cli
