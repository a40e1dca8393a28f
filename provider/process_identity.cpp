#include "provider/process_identity.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>

#include "device_model/abi/mem_file_position.hpp"
#include "provider/freestanding/calls.hpp"
#include "trust/peer.hpp"

namespace urnic::provider {

// pidfd_open may fail: valgrind 3.19 does not know it, and system call filters may refuse it.
int ProcessIdentity::open() {
  pid_descriptor.reset(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0)));
  memory.reset(open_file("/proc/self/mem", O_RDWR | O_CLOEXEC));
  // A device process that sees neither this process nor its /proc knows the file by that. It needs no answer.
  if (memory.valid()) lseek(memory.get(), abi::kMemFilePosition, SEEK_SET);
  return memory.valid() ? 0 : errno;
}

void allow_memory_access_by_peer(int socket) {
  if (!trust::peer_is_own_user(socket)) return;
  constexpr pid_t kSeveral = -1;
  static std::atomic<pid_t> allowed{0};
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return;
  // Yama keeps one exception per process. PR_SET_PTRACER_ANY is needed for a second device process, and for
  // one in a PID namespace that gives it no number here.
  pid_t before = allowed.load();
  pid_t wanted;
  do {
    wanted = peer.pid > 0 && (before == 0 || before == peer.pid) ? peer.pid : kSeveral;
  } while (!allowed.compare_exchange_weak(before, wanted));
  const unsigned long tracer = wanted == kSeveral ? PR_SET_PTRACER_ANY : static_cast<unsigned long>(wanted);
  // Kernels without Yama know no such option, and need none.
  prctl(PR_SET_PTRACER, tracer, 0, 0, 0);
}

void copy_program_name(char (&name)[64]) {
  std::snprintf(name, sizeof name, "%s", program_invocation_short_name);
}

}  // namespace urnic::provider
