#include "device_model/control/loop/peer.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>

namespace urnic::control {
namespace {

#ifdef SO_PEERPIDFD
constexpr int kPeerPidfd = SO_PEERPIDFD;
#else
constexpr int kPeerPidfd = 77;  // since Linux 6.5
#endif

// Empty if the process has ended. Older kernels give only the number, which may be reused if the process has
// ended since it connected.
memory::Descriptor pidfd_of(int socket, pid_t pid) {
  int pidfd = -1;
  socklen_t length = sizeof pidfd;
  if (getsockopt(socket, SOL_SOCKET, kPeerPidfd, &pidfd, &length) == 0) return memory::Descriptor(pidfd);
  if (errno != ENOPROTOOPT || pid == 0) return {};
  return memory::Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
}

bool is_running(const memory::Descriptor& pidfd) {
  pollfd entry{pidfd.get(), POLLIN, 0};
  return pidfd && poll(&entry, 1, 0) == 0;
}

std::string proc_file(pid_t pid, const char* name) { return "/proc/" + std::to_string(pid) + '/' + name; }

// Bit N is capability N.
std::optional<std::uint64_t> effective_capabilities(pid_t pid) {
  std::ifstream status(proc_file(pid, "status"));
  for (std::string word; status >> word;) {
    std::uint64_t set = 0;
    if (word == "CapEff:" && status >> std::hex >> set) return set;
  }
  return std::nullopt;
}

std::string contents(const std::string& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// Capabilities of a child namespace do not count here. The kernel decides who may read /proc/PID/ns
// (ptrace(2)), and refuses for a process with more capabilities than this one. All may read the mapping of
// user ids; only root can give a new namespace the same mapping.
bool in_own_user_namespace(pid_t pid) {
  struct stat own {};
  struct stat other {};
  if (stat("/proc/self/ns/user", &own) == 0 && stat(proc_file(pid, "ns/user").c_str(), &other) == 0)
    return own.st_ino == other.st_ino && own.st_dev == other.st_dev;
  const std::string map = contents("/proc/self/uid_map");
  return !map.empty() && map == contents(proc_file(pid, "uid_map"));
}

}  // namespace

pid_t peer_number(int socket) {
  ucred peer{};
  socklen_t length = sizeof peer;
  return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 ? peer.pid : 0;
}

Peer::Peer(int socket) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
    throw std::system_error(errno, std::generic_category(), "SO_PEERCRED");
  pid_ = peer.pid;
  uid_ = peer.uid;
  pidfd_ = pidfd_of(socket, pid_);
}

memory::Descriptor Peer::pidfd() const {
  return memory::Descriptor(pidfd_ ? fcntl(pidfd_.get(), F_DUPFD_CLOEXEC, 0) : -1);
}

bool Peer::has_net_raw() const { return has_capability(CAP_NET_RAW); }

bool Peer::may_bind(std::uint16_t port) const {
  unsigned first_unprivileged = 1024;
  std::ifstream("/proc/sys/net/ipv4/ip_unprivileged_port_start") >> first_unprivileged;
  return port >= first_unprivileged || has_capability(CAP_NET_BIND_SERVICE);
}

bool Peer::has_capability(int capability) const {
  // Another PID namespace: capabilities cannot be read, but root has them.
  if (pid_ == 0) return uid_ == 0;
  const auto capabilities = effective_capabilities(pid_);
  const bool has = capabilities && (*capabilities >> capability & 1) != 0 && in_own_user_namespace(pid_);
  // Checked last: the files belonged to the process, because it still has its number.
  return has && is_running(pidfd_);
}

}  // namespace urnic::control
