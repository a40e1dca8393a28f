#include "device_model/control/confinement/confinement.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "device_model/memory/descriptor.hpp"

namespace urnic::control {
namespace {

// /proc/self/fdinfo tells a descriptor's kind. Before Linux 5.14 a process that cannot be dumped may not read
// it.
bool can_read_own_descriptors() {
  const memory::Descriptor some(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const std::string file = "/proc/self/fdinfo/" + std::to_string(some.get());
  return static_cast<bool>(memory::Descriptor(open(file.c_str(), O_RDONLY | O_CLOEXEC)));
}

std::string forbid_looks() {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  if (prctl(PR_SET_DUMPABLE, 0) == 0 && can_read_own_descriptors()) return {};
  prctl(PR_SET_DUMPABLE, 1);
  return "other programs of this user can look into the device process, for this kernel is older than Linux "
         "5.14";
}

std::string drop_capabilities() {
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  // Comes first, because it takes a capability itself; PR_SET_NO_NEW_PRIVS makes it redundant.
  for (unsigned long capability = 0; prctl(PR_CAPBSET_READ, capability) >= 0; ++capability) {
    if (capability != CAP_SYS_PTRACE) prctl(PR_CAPBSET_DROP, capability);
  }
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2]{};
  constexpr std::uint32_t kKept = 1u << CAP_SYS_PTRACE;
  bool done = syscall(SYS_capget, &header, sets) == 0;
  sets[0] = {sets[0].effective & kKept, sets[0].permitted & kKept, 0};
  sets[1] = {};
  done = done && syscall(SYS_capset, &header, sets) == 0;
  return done ? std::string() : std::string("capabilities cannot be dropped: ") + std::strerror(errno);
}

}  // namespace

void close_inherited(int keep) {
  constexpr unsigned kFirst = STDERR_FILENO + 1;
  constexpr unsigned kLast = std::numeric_limits<unsigned>::max();
  const auto kept = static_cast<unsigned>(keep);
  if (keep < static_cast<int>(kFirst)) {
    syscall(__NR_close_range, kFirst, kLast, 0);
    return;
  }
  if (kept > kFirst) syscall(__NR_close_range, kFirst, kept - 1, 0);
  syscall(__NR_close_range, kept + 1, kLast, 0);
}

void end_with(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(EXIT_FAILURE);
}

void keep_only(int descriptor) {
  const int null = open("/dev/null", O_RDWR);
  for (const int each : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null, each);
  close_inherited(descriptor);
}

std::string drop_powers(bool debuggable) {
  umask(077);
  std::string problem;
  const auto note = [&](const std::string& what) { problem += (problem.empty() ? "" : "; ") + what; };
  if (chdir("/") != 0) note(std::string("chdir to /: ") + std::strerror(errno));
  if (const std::string refused = drop_capabilities(); !refused.empty()) note(refused);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) note("PR_SET_NO_NEW_PRIVS is refused");
  if (debuggable) return problem;
  if (const std::string refused = forbid_looks(); !refused.empty()) note(refused);
  return problem;
}

}  // namespace urnic::control
