// How the device process gives up the powers that it does not need (docs/security.md). It holds every
// program's memory for life: whoever takes it over, or looks into it, has all of them.
#pragma once

#include <string>

namespace urnic::control {

// Closes what this process has inherited above stderr, but for `keep` (-1: nothing).
void close_inherited(int keep);

// To be called before any thread starts. No core dump and no look from outside (PR_SET_DUMPABLE), no
// privilege from a file that is executed, no capability but CAP_SYS_PTRACE, and that one only if it has it:
// root's programs have capabilities, and the kernel lets process_vm_readv reach into such a process only if
// the caller has them, too, or CAP_SYS_PTRACE. Working directory "/", files for this user only. `debuggable`:
// core dumps and debuggers are let. Returns a line about what this machine does not allow; empty if all was
// done.
std::string drop_powers(bool debuggable);

// Of all threads, and for good: system calls that a running device process has no use for fail with ENOSYS,
// as on a kernel that does not have them; those that only an intruder would make end the process. Returns why
// this could not be done; empty if it was.
std::string allow_needed_calls_only();

// The same for a copier, which reads and writes memory and does nothing else.
std::string allow_copying_only();

}  // namespace urnic::control
