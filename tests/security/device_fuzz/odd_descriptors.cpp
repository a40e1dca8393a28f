#include "tests/security/device_fuzz/odd_descriptors.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>

namespace urnic::device_fuzz {
namespace {

constexpr std::size_t kMostKept = 256;

int pidfd_of(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }

// A pidfd of a process that has ended.
int dead_pidfd() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  const int number = child > 0 ? pidfd_of(child) : -1;
  if (child > 0) kill(child, SIGKILL);
  return number;
}

int armed_timer(Chance& chance) {
  const int number = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  const itimerspec often{{0, 1000 + chance.below(1'000'000)}, {0, 1}};
  timerfd_settime(number, 0, &often, nullptr);
  return number;
}

int signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  return signalfd(-1, &set, SFD_CLOEXEC);
}

int page_faults() {
  return static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY));
}

int watcher() {
  const int number = inotify_init1(IN_CLOEXEC);
  inotify_add_watch(number, "/tmp", IN_ALL_EVENTS);
  return number;
}

int open_file(const std::string& path, int flags) { return open(path.c_str(), flags | O_CLOEXEC); }

}  // namespace

int OddDescriptors::make_pipe_end() {
  std::array<int, 2> ends{-1, -1};
  if (pipe2(ends.data(), O_CLOEXEC | (chance_.once_in(2) ? O_NONBLOCK : 0)) != 0) return -1;
  if (chance_.once_in(4)) {  // a full pipe
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    const std::array<char, 4096> bytes{};
    while (write(ends[1], bytes.data(), bytes.size()) > 0) continue;
  }
  const int sent = chance_.below(2);
  keep(ends[1 - sent]);
  return ends[sent];
}

int OddDescriptors::make_unix_socket() {
  std::array<int, 2> ends{-1, -1};
  const int type = chance_.one_of({SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET});
  if (socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends.data()) != 0) return -1;
  if (chance_.once_in(2))
    keep(ends[1]);
  else
    close(ends[1]);
  return ends[0];
}

// Closing this socket takes a second or two, since its peer does not read the data.
int OddDescriptors::make_lingering_socket() {
  const Descriptor listener(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener.get(), plain, length) != 0 || listen(listener.get(), 1) != 0) return -1;
  getsockname(listener.get(), plain, &length);
  Descriptor sender(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connect(sender.get(), plain, length) != 0) return -1;
  keep(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  fcntl(sender.get(), F_SETFL, O_NONBLOCK);
  const std::vector<char> bytes(1 << 16);
  for (int i = 0; i < 256 && send(sender.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) > 0; ++i) continue;
  fcntl(sender.get(), F_SETFL, 0);
  const linger patience{1, static_cast<int>(chance_.from(1, 2))};
  setsockopt(sender.get(), SOL_SOCKET, SO_LINGER, &patience, sizeof patience);
  return sender.release();
}

int OddDescriptors::make_memfd() {
  const int number = memfd_create("odd", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (number < 0 || ftruncate(number, chance_.below(1 << 20)) != 0) return number;
  const int kind = chance_.below(3);
  if (kind == 0) fcntl(number, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
  if (kind == 1) to_shrink_.emplace_back(fcntl(number, F_DUPFD_CLOEXEC, 0));
  return number;
}

int OddDescriptors::make_epoll() {
  const int number = epoll_create1(EPOLL_CLOEXEC);
  const int inside = eventfd(1, EFD_CLOEXEC);
  epoll_event event{EPOLLIN, {}};
  epoll_ctl(number, EPOLL_CTL_ADD, inside, &event);
  keep(inside);
  return number;
}

int OddDescriptors::make_process_file() {
  const std::string whose = chance_.one_of<std::string>(
      {"self", std::to_string(getppid()), std::to_string(device_process_), "1", std::to_string(getpid())});
  const std::string name =
      chance_.one_of<std::string>({"mem", "mem", "mem", "maps", "fd", "status", "ns/user"});
  const int number = open_file("/proc/" + whose + "/" + name, O_RDWR);
  return number >= 0 ? number : open_file("/proc/" + whose + "/" + name, O_RDONLY);
}

int OddDescriptors::make_pidfd() {
  switch (chance_.below(4)) {
    case 0:
      return pidfd_of(getpid());
    case 1:
      return pidfd_of(getppid());
    case 2:
      return pidfd_of(device_process_);
    default:
      return dead_pidfd();
  }
}

int OddDescriptors::make_number() {
  switch (chance_.below(20)) {
    case 0:
    case 1:
      return make_pipe_end();
    case 2:
      return make_unix_socket();
    case 3:  // seldom: the device process soon refuses a program that does this often
      return chance_.once_in(16) ? make_lingering_socket() : make_unix_socket();
    case 4:
      return eventfd(chance_.word(), EFD_CLOEXEC | (chance_.once_in(2) ? EFD_NONBLOCK : 0));
    case 5:
    case 6:
      return make_memfd();
    case 7:
      return make_epoll();
    case 8:
      return open_file(chance_.one_of({"/dev/null", "/dev/zero", "/dev/full", "/dev/urandom"}), O_RDWR);
    case 9:
      return open_file("/", O_RDONLY | O_DIRECTORY);
    case 10:
      return open_file(chance_.one_of({"/", "/proc/self/mem", "/dev/null", "/proc/self/exe"}), O_PATH);
    case 11:
    case 12:
      return make_process_file();
    case 13:
    case 14:
      return make_pidfd();
    case 15:
      return armed_timer(chance_);
    case 16:
      return signals();
    case 17:
      return page_faults();
    case 18:
      return watcher();
    default:
      return open_file("/proc/self/exe", O_RDONLY);
  }
}

Descriptor OddDescriptors::make() {
  if (other_ends_.size() > kMostKept) change_after();
  int number = make_number();
  if (number < 0) number = open_file("/dev/null", O_RDWR);
  return Descriptor(number);
}

void OddDescriptors::change_after() {
  for (const Descriptor& file : to_shrink_) {
    if (ftruncate(file.get(), 0) != 0) continue;
  }
  to_shrink_.clear();
  if (other_ends_.size() > kMostKept / 4) other_ends_.clear();
}

std::vector<Descriptor> own_identity() {
  std::vector<Descriptor> identity;
  identity.emplace_back(pidfd_of(getpid()));
  identity.emplace_back(open("/proc/self/mem", O_RDWR | O_CLOEXEC));
  return identity;
}

std::vector<Descriptor> new_pipe() {
  std::array<int, 2> ends{-1, -1};
  std::vector<Descriptor> pipe;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return pipe;
  for (const int end : ends) pipe.emplace_back(end);
  return pipe;
}

}  // namespace urnic::device_fuzz
