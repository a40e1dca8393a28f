#include "provider/kernel/run_directory.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <cstring>

#include "device_model/abi/run_directory.hpp"

namespace urnic::kernel {

constinit std::atomic<RunDirectoryState> run_directory_state{RunDirectoryState::unknown};

namespace {

constinit char directory[abi::kMaxRunDirectoryLength + 1] = {};

RunDirectoryState copy_run_directory() {
  const char* value = secure_getenv(abi::kRunDirectoryVariable);
  if (value == nullptr || value[0] != '/') return RunDirectoryState::absent;
  std::size_t length = std::strlen(value);
  while (length > 1 && value[length - 1] == '/') --length;
  if (length <= 1 || length >= sizeof directory) return RunDirectoryState::absent;
  std::memcpy(directory, value, length);
  return RunDirectoryState::present;
}

// Constructors of the program's libraries run before this one and may already have asked.
__attribute__((constructor)) void read_at_load() { read_run_directory(); }

}  // namespace

bool read_run_directory() {
  // Before libc has set itself up there is no environment to read: ask again later.
  if (environ == nullptr) return false;
  RunDirectoryState expected = RunDirectoryState::unknown;
  if (!run_directory_state.compare_exchange_strong(expected, RunDirectoryState::being_read))
    return expected == RunDirectoryState::present;
  const RunDirectoryState found = copy_run_directory();
  run_directory_state.store(found, std::memory_order_release);
  return found == RunDirectoryState::present;
}

const char* run_directory() { return directory; }

}  // namespace urnic::kernel
