#include <poll.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "device_model/memory/descriptor_facts.hpp"
#include "device_model/memory/mem_file_memory.hpp"
#include "device_model/memory/process_memory.hpp"
#include "device_model/memory/vm_process_memory.hpp"

namespace urnic::memory {

namespace {

// The process's number as /proc knows it here: 0 if a PID namespace hides it, -1 once it has been reaped.
pid_t number_behind(int pidfd) {
  const std::string number = fdinfo_word(pidfd, "Pid");
  return number.empty() ? 0 : static_cast<pid_t>(std::strtol(number.c_str(), nullptr, 10));
}

// The kernel checks the permission before the address. So EFAULT for page 0, which nobody maps, says that
// permission is granted. Refusals come from Yama, from seccomp filters, for other users' processes.
bool vm_calls_allowed(pid_t pid) {
  std::byte byte{};
  const iovec local{&byte, sizeof byte};
  const iovec remote{nullptr, sizeof byte};
  return process_vm_readv(pid, &local, 1, &remote, 1, 0) >= 0 || errno == EFAULT;
}

bool has_exited(const Descriptor& pidfd) {
  pollfd entry{pidfd.get(), POLLIN, 0};
  return poll(&entry, 1, 0) == 1;
}

}  // namespace

std::unique_ptr<ApplicationMemory> open_process_memory(pid_t pid, Descriptor&& pidfd, Descriptor&& mem,
                                                       std::string& problem) {
  const std::string process = "process " + std::to_string(pid);
  if (!is_mem_file(mem.get(), pid)) {
    problem = "cannot reach the memory of " + process +
              ": it handed over no /proc/self/mem that can be read and written; cure: mount /proc where it "
              "runs, and let it be dumpable (no setuid, no PR_SET_DUMPABLE 0)";
    return nullptr;
  }
  if ((pidfd && has_exited(pidfd)) || !address_space_lives(mem.get())) {
    problem = process + " ended before its memory could be reached";
    return nullptr;
  }
  // A process can get a pidfd of any process, but a mem file only of one whose memory it may access. Both
  // must mean the number.
  const bool number_is_true =
      pid > 0 && pidfd && number_behind(pidfd.get()) == pid && mem_file_number(mem.get()) == pid;
  if (number_is_true && vm_calls_allowed(pid)) return std::make_unique<VmProcessMemory>(pid, std::move(mem));
  return std::make_unique<MemFileMemory>(std::move(mem));
}

}  // namespace urnic::memory
