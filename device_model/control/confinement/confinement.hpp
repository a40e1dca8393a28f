// Drops powers that the device process does not need (docs/security.md). The process can access every
// program's memory: an intruder into it, or a reader of it, has them all.
#pragma once

#include <sys/types.h>

#include <string>

namespace urnic::control {

// Closes all inherited descriptors above stderr except `keep` (-1: none).
void close_inherited(int keep);

// For a process that was forked to work for this one. It ends when `parent` ends, however that does; a
// process whose parent has ended already ends at once.
void end_with(pid_t parent);
// Closes the terminal and all other inherited descriptors but `descriptor`.
void keep_only(int descriptor);

// Call before any thread starts. Sets: no core dump and no access by debuggers (PR_SET_DUMPABLE), unless
// `debuggable`; no privilege from executed files; no capability except CAP_SYS_PTRACE if the process has it,
// because the kernel lets process_vm_readv reach a process with capabilities (root's programs) only if the
// caller has these, too, or CAP_SYS_PTRACE; working directory "/"; files for this user only. Returns a line
// about what this machine does not allow; empty if all was done.
std::string drop_powers(bool debuggable);

// Sockets that the process makes while it serves programs, beside UNIX sockets without a peer.
struct NeededSockets {
  bool groups = false;  // UDP sockets of multicast groups
  bool peer = false;    // to a UNIX socket that another process serves
};

// Restricts all threads, for good: unneeded system calls fail with ENOSYS, as on a kernel without them; calls
// that only an intruder would make end the process. Returns why it failed; empty on success.
std::string allow_needed_calls_only(NeededSockets sockets = {});

// The same for a copier, which only reads and writes memory.
std::string allow_copying_only();

}  // namespace urnic::control
