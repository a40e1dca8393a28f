// The system calls of a running device process (confinement.hpp).
#include <linux/filter.h>
#include <linux/if_tun.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "device_model/control/confinement/confinement.hpp"
#include "device_model/control/confinement/procmap_query.hpp"

namespace urnic::control {
namespace {

// A sanitizer's runtime makes further calls.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

// By name: some processors lack some calls (arm64 has no "open"), and older libraries lack the newest.
constexpr const char* kNeeded[] = {
    // Memory of programs and of this process.
    "process_vm_readv",
    "process_vm_writev",
    "mmap",
    "munmap",
    "mremap",
    "mprotect",
    "madvise",
    "brk",
    "memfd_create",
    "membarrier",
    "shmat",
    // The run directory, sysfs files, logs, fault plans, /proc.
    "open",
    "openat",
    "close",
    "close_range",
    "read",
    "write",
    "readv",
    "writev",
    "pread64",
    "pwrite64",
    "preadv",
    "pwritev",
    "lseek",
    "_llseek",
    "stat",
    "fstat",
    "lstat",
    "newfstatat",
    "fstatat64",
    "fstat64",
    "statx",
    "statfs",
    "fstatfs",
    "access",
    "faccessat",
    "faccessat2",
    "readlink",
    "readlinkat",
    "getdents64",
    "mkdir",
    "mkdirat",
    "rmdir",
    "unlink",
    "unlinkat",
    "rename",
    "renameat",
    "renameat2",
    "symlink",
    "symlinkat",
    "chmod",
    "fchmod",
    "fchmodat",
    "ftruncate",
    "fallocate",
    "umask",
    "flock",
    "fcntl",
    "dup",
    "dup2",
    "dup3",
    "fsync",
    "fdatasync",
    "getcwd",
    "chdir",
    // Connections and pipes of programs.
    "accept4",
    "accept",
    "sendmsg",
    "sendto",
    "recvmsg",
    "recvfrom",
    "sendmmsg",
    "recvmmsg",
    "shutdown",
    "getsockopt",
    "getsockname",
    "pipe2",
    "socketpair",
    "pidfd_open",
    // Waiting.
    "epoll_create1",
    "epoll_ctl",
    "epoll_wait",
    "epoll_pwait",
    "epoll_pwait2",
    "eventfd2",
    "timerfd_create",
    "timerfd_settime",
    "signalfd4",
    "poll",
    "ppoll",
    "nanosleep",
    "clock_nanosleep",
    "clock_gettime",
    "clock_getres",
    "gettimeofday",
    "time",
    "restart_syscall",
    "sched_yield",
    "sched_setattr",
    "getpriority",
    // Threads and signals.
    "futex",
    "set_robust_list",
    "rseq",
    "set_tid_address",
    "exit",
    "exit_group",
    "gettid",
    "getpid",
    "tgkill",
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigreturn",
    "sigaltstack",
    "sched_getaffinity",
    "prctl",
    "setsid",
    // Questions about the machine and this process.
    "getuid",
    "geteuid",
    "getgid",
    "getegid",
    "getrandom",
    "getrlimit",
    "prlimit64",
    "sysinfo",
    "uname",
    "getrusage",
};

// The device process never makes these.
constexpr const char* kIntruders[] = {"execve", "execveat", "fork",   "vfork",        "ptrace",
                                      "bpf",    "mount",    "setns",  "unshare",      "init_module",
                                      "setuid", "setgid",   "capset", "finit_module", "pivot_root"};

constexpr const char* kCopierNeeds[] = {
    "process_vm_readv",
    "process_vm_writev",
    "pread64",
    "pwrite64",
    "preadv",
    "pwritev",
    "read",
    "write",
    "clock_gettime",
    "restart_syscall",
    "mmap",
    "munmap",
    "brk",
    "madvise",
    "exit_group",
    "rt_sigreturn",
    "futex",
};

struct Release {
  void operator()(void* filter) const { seccomp_release(filter); }
};

// 0 or a negative errno, like libseccomp.
int add_rules(scmp_filter_ctx filter) {
  int error = 0;
  const auto add = [&](std::uint32_t action, const char* name) {
    const int call = seccomp_syscall_resolve_name(name);
    if (call == __NR_SCMP_ERROR || error != 0) return;
    error = seccomp_rule_add(filter, action, call, 0);
  };
  for (const char* name : kNeeded) add(SCMP_ACT_ALLOW, name);
  for (const char* name : kIntruders) add(SCMP_ACT_KILL_PROCESS, name);
  if (error != 0) return error;
  // Threads only. The flags of clone3 are in memory, where a filter cannot read them; the C library uses
  // clone if clone3 fails.
  constexpr scmp_datum_t kThread = CLONE_THREAD;
  error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
                           SCMP_A0(SCMP_CMP_MASKED_EQ, kThread, kThread));
  if (error != 0) return error;
  error = seccomp_rule_add(filter, SCMP_ACT_KILL_PROCESS, SCMP_SYS(clone), 1,
                           SCMP_A0(SCMP_CMP_MASKED_EQ, kThread, 0));
  if (error != 0) return error;
  // Registration queries a program's mappings.
  error =
      seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1, SCMP_A1(SCMP_CMP_EQ, kProcmapQuery, 0));
  if (error != 0) return error;
  // A program's store into a doorbell page goes on.
  error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1, SCMP_A1(SCMP_CMP_EQ, UFFDIO_WAKE, 0));
  if (error != 0) return error;
  // A link that a person cuts is one for the host, too.
  error =
      seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1, SCMP_A1(SCMP_CMP_EQ, TUNSETCARRIER, 0));
  if (error != 0) return error;
  // How many bytes of a umad node's requests wait.
  error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1, SCMP_A1(SCMP_CMP_EQ, FIONREAD, 0));
  if (error != 0) return error;
  // How much a program has not read yet from a umad node.
  error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1, SCMP_A1(SCMP_CMP_EQ, TIOCOUTQ, 0));
  if (error != 0) return error;
  // Logging queries whether its output is a terminal.
  error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(ioctl), 1, SCMP_A1(SCMP_CMP_EQ, TCGETS, 0));
  if (error != 0) return error;
  // How long a System V segment is.
  error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(shmctl), 1, SCMP_A1(SCMP_CMP_EQ, IPC_STAT, 0));
  if (error != 0) return error;
  // An engine chooses its own processor.
  error =
      seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(sched_setaffinity), 1, SCMP_A0(SCMP_CMP_EQ, 0, 0));
  if (error != 0) return error;
  return seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1, SCMP_A0(SCMP_CMP_EQ, AF_UNIX, 0));
}

int add_socket_rules(scmp_filter_ctx filter, NeededSockets sockets) {
  int error = 0;
  const auto allow = [&](int call) {
    if (error == 0) error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0);
  };
  if (sockets.peer) allow(SCMP_SYS(connect));
  if (!sockets.groups) return error;
  allow(SCMP_SYS(bind));
  allow(SCMP_SYS(setsockopt));
  for (const scmp_datum_t family : {AF_INET, AF_INET6})
    if (error == 0)
      error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1, SCMP_A0(SCMP_CMP_EQ, family, 0));
  return error;
}

// Refused calls are not logged (SCMP_FLTATR_CTL_LOG): each new thread tries clone3, which would log a line.
// Before Linux 5.16 the filter would bring the kernel's own mitigations (SSBD) and slow all threads down.
int set_attributes(scmp_filter_ctx filter) {
  seccomp_attr_set(filter, SCMP_FLTATR_CTL_SSB, 1);
  seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);  // a tree instead of a list
  return seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
}

int add_copier_rules(scmp_filter_ctx filter) {
  int error = 0;
  for (const char* name : kCopierNeeds) {
    const int call = seccomp_syscall_resolve_name(name);
    if (call != __NR_SCMP_ERROR && error == 0) error = seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0);
  }
  return error;
}

template <typename Add>
std::string restrict(const Add& add) {
  if (kSanitized) return "this is a build with a sanitizer";
  const std::unique_ptr<void, Release> filter(seccomp_init(SCMP_ACT_ERRNO(ENOSYS)));
  if (filter == nullptr) return "no memory for it";
  int error = set_attributes(filter.get());
  if (error == 0) error = add(filter.get());
  if (error == 0) error = seccomp_load(filter.get());
  return error == 0 ? std::string() : std::string(std::strerror(-error));
}

}  // namespace

std::string allow_needed_calls_only(NeededSockets sockets) {
  return restrict([&](scmp_filter_ctx filter) {
    const int error = add_rules(filter);
    return error == 0 ? add_socket_rules(filter, sockets) : error;
  });
}

std::string allow_copying_only() { return restrict(add_copier_rules); }

}  // namespace urnic::control
