// The run directory that this process was told to use.
#pragma once

#include <atomic>
#include <cstddef>

namespace urnic::kernel {

enum class RunDirectoryState : int {
  unknown,
  being_read,
  awaited,  // named, and not looked at yet, or not there yet
  absent,   // none is named, or it is not to be trusted
  present,
};

// For stand_in_active only.
extern std::atomic<RunDirectoryState> run_directory_state;

// Reads URNIC_DIR if that has not happened yet. True if it names a run directory: an absolute path of at most
// abi::kMaxRunDirectoryLength bytes, in a program that is not setuid, of a directory that no other user can
// have made (trust/directory.hpp); otherwise a line on standard error says why the program sees no devices.
bool read_run_directory();

// True if the stand-in has anything to do in this process; everything else is passed on as it comes.
inline bool stand_in_active() {
  const RunDirectoryState state = run_directory_state.load(std::memory_order_acquire);
  if (__builtin_expect(state <= RunDirectoryState::awaited, 0)) return read_run_directory();
  return state == RunDirectoryState::present;
}

// The run directory without a trailing slash. Only while stand_in_active().
const char* run_directory();

}  // namespace urnic::kernel
