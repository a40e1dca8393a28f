// The run directory that this process was told to use.
#pragma once

#include <atomic>
#include <cstddef>

namespace urnic::kernel {

enum class RunDirectoryState : int { unknown, being_read, absent, present };

// For stand_in_active only.
extern std::atomic<RunDirectoryState> run_directory_state;

// Reads URNIC_DIR if that has not happened yet. True if it names a run directory: an absolute path of at most
// abi::kMaxRunDirectoryLength bytes, in a program that is not setuid.
bool read_run_directory();

// True if the stand-in has anything to do in this process; everything else is passed on as it comes.
inline bool stand_in_active() {
  const RunDirectoryState state = run_directory_state.load(std::memory_order_acquire);
  if (__builtin_expect(state <= RunDirectoryState::being_read, 0)) return read_run_directory();
  return state == RunDirectoryState::present;
}

// The run directory without a trailing slash. Only while stand_in_active().
const char* run_directory();

}  // namespace urnic::kernel
