#include "device_model/control/subnet_manager/program_parent.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>

#include "device_model/control/confinement/confinement.hpp"

namespace urnic::control {
namespace {

constexpr int kLookPeriod = 200;             // ms, at the program's end and words
constexpr int kEndPatience = 2000;           // ms
constexpr std::size_t kLongestWords = 1000;  // the last ones
constexpr unsigned kLastReads = 1000;        // more than a full pipe

struct ReportMessage {
  std::uint32_t kind = 0;
  std::int32_t value = 0;  // running: the pid; ended: the status of waitpid
  std::uint32_t length = 0;
  std::array<char, kLongestWords> words{};
};

[[noreturn]] void become(const ProgramStart& start, int said) {
  dup2(said, STDERR_FILENO);
  close_inherited(-1);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const int signal : {SIGPIPE, SIGHUP}) std::signal(signal, SIG_DFL);
  for (const auto& [variable, value] : start.variables) setenv(variable.c_str(), value.c_str(), 1);
  std::vector<char*> raw;
  raw.reserve(start.words.size() + 1);
  for (const std::string& word : start.words) raw.push_back(const_cast<char*>(word.c_str()));
  raw.push_back(nullptr);
  execv(raw[0], raw.data());
  const std::string why = fmt::format("it cannot be started: {}", std::strerror(errno));
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, why.data(), why.size());
  _exit(EXIT_FAILURE);
}

// The parent process itself.
class Keeper {
 public:
  Keeper(const ProgramStart& start, int socket) : start_(start), socket_(socket) {}

  // Until the device process has ended, or wants the program to end.
  void run() {
    if (!wait_for_word()) return;
    launch();
    while (!is_told_to_end()) {
      listen();
      if (child_ > 0) look_for_end();
    }
    if (child_ <= 0) return;
    kill(child_, SIGKILL);
    while (waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

 private:
  // False: the device process has ended, or does not want the program any more.
  bool wait_for_word() {
    char word = 0;
    ssize_t size = 0;
    do {
      size = recv(socket_, &word, 1, 0);
    } while (size < 0 && errno == EINTR);
    return size == 1;
  }

  void launch() {
    std::array<int, 2> ends{-1, -1};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) return report_failure("pipe");
    words_ = memory::Descriptor(ends[0]);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    const memory::Descriptor said(ends[1]);
    const pid_t self = getpid();
    child_ = ::fork();
    if (child_ < 0) return report_failure("fork");
    if (child_ == 0) {
      end_with(self);
      become(start_, said.get());
    }
    tell(ProgramParent::Report::Kind::running, child_);
  }

  void report_failure(const char* call) {
    last_ = fmt::format("it cannot be started: {}: {}", call, std::strerror(errno));
    tell(ProgramParent::Report::Kind::ended, 0);
    child_ = 0;
  }

  // Waits for the end of the connection, for words of the program, or a moment.
  bool is_told_to_end() {
    std::array<pollfd, 2> looks{pollfd{socket_, POLLIN | POLLRDHUP, 0}, pollfd{words_.get(), POLLIN, 0}};
    const bool waits = child_ > 0;
    poll(looks.data(), words_ ? 2 : 1, waits ? kLookPeriod : -1);
    return looks[0].revents != 0;
  }

  // Whether the program has said something.
  bool listen() {
    if (!words_) return false;
    std::array<char, kLongestWords> some{};
    const ssize_t size = read(words_.get(), some.data(), some.size());
    if (size == 0) words_.reset();
    if (size <= 0) return false;
    last_.append(some.data(), static_cast<std::size_t>(size));
    if (last_.size() > kLongestWords) last_.erase(0, last_.size() - kLongestWords);
    return true;
  }

  void look_for_end() {
    int status = 0;
    if (waitpid(child_, &status, WNOHANG) != child_) return;
    // What it has said at last. A child of its may have the pipe still, and go on.
    for (unsigned reads = 0; reads < kLastReads && listen();) ++reads;
    child_ = 0;
    tell(ProgramParent::Report::Kind::ended, status);
  }

  void tell(ProgramParent::Report::Kind kind, int value) {
    ReportMessage message;
    message.kind = static_cast<std::uint32_t>(kind);
    message.value = value;
    const std::size_t length = std::min(last_.size(), message.words.size());
    message.length = static_cast<std::uint32_t>(length);
    std::copy_n(last_.begin(), length, message.words.begin());
    [[maybe_unused]] const ssize_t sent = send(socket_, &message, sizeof message, MSG_NOSIGNAL);
  }

  const ProgramStart& start_;
  int socket_;
  memory::Descriptor words_;  // the program's standard error
  std::string last_;          // from there
  pid_t child_ = 0;           // 0: none runs
};

// The program's words end up in a log and on terminals: one line.
std::string one_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string describe_end(int status, const std::string& words) {
  const std::string how = WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status))
                                              : fmt::format("exit status {}", WEXITSTATUS(status));
  return words.empty() ? how : fmt::format("{}: {}", how, words);
}

}  // namespace

std::unique_ptr<ProgramParent> ProgramParent::fork(const ProgramStart& start) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    throw std::system_error(errno, std::generic_category(), "socketpair");
  memory::Descriptor ours(ends[0]);
  memory::Descriptor theirs(ends[1]);
  const pid_t self = getpid();
  const pid_t child = ::fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child > 0) return std::unique_ptr<ProgramParent>(new ProgramParent(std::move(ours)));
  end_with(self);
  prctl(PR_SET_NAME, "urnic-manager");
  // Signals to the device process's terminal are not for the program: it ends with the device process.
  setsid();
  keep_only(theirs.get());
  Keeper(start, theirs.get()).run();
  _exit(EXIT_SUCCESS);
}

// The kernel closes the parent process's end of the socket when that has ended, and it ends after its
// program.
ProgramParent::~ProgramParent() {
  shutdown(socket_.get(), SHUT_WR);
  std::array<char, sizeof(ReportMessage)> rest{};
  pollfd look{socket_.get(), POLLIN, 0};
  for (;;) {
    const int ready = poll(&look, 1, kEndPatience);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0 || recv(socket_.get(), rest.data(), rest.size(), MSG_DONTWAIT) <= 0) return;
  }
}

void ProgramParent::start() {
  const char word = 'g';
  [[maybe_unused]] const ssize_t sent = send(socket_.get(), &word, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

std::optional<ProgramParent::Report> ProgramParent::next_report() {
  ReportMessage message;
  const ssize_t size = recv(socket_.get(), &message, sizeof message, MSG_DONTWAIT);
  if (size < 0) return {};
  Report report;
  if (size != sizeof message) {
    report.kind = Report::Kind::parent_ended;
    report.words = "the process that started it has ended, and with it the program";
    return report;
  }
  report.kind = static_cast<Report::Kind>(message.kind);
  const std::size_t length = std::min<std::size_t>(message.length, message.words.size());
  const std::string words = one_line({message.words.data(), length});
  if (report.kind == Report::Kind::running) report.pid = message.value;
  if (report.kind == Report::Kind::ended) report.words = describe_end(message.value, words);
  return report;
}

}  // namespace urnic::control
