#include "provider/kernel/run_directory_lookup.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

#include "device_model/abi/run_directory_layout.hpp"
#include "provider/kept_errno.hpp"
#include "provider/kernel/bounded_text.hpp"
#include "provider/kernel/real.hpp"
#include "trust/directory.hpp"

namespace urnic::kernel {

constinit std::atomic<RunDirectoryState> run_directory_state{RunDirectoryState::unknown};

namespace {

constinit char copied_path[abi::kMaxRunDirectoryLength + 1] = {};

RunDirectoryState copy_run_directory() {
  const char* value = secure_getenv(abi::kRunDirectoryVariable);
  if (value == nullptr || value[0] != '/') return RunDirectoryState::absent;
  std::size_t length = std::strlen(value);
  while (length > 1 && value[length - 1] == '/') --length;
  if (length <= 1 || length >= sizeof copied_path) return RunDirectoryState::absent;
  std::string_view(value, length).copy(copied_path, length);
  return RunDirectoryState::awaited;
}

// Nothing of the program's may reach another user, and nothing of theirs is taken for a device.
void tell_refusal(trust::DirectoryFault fault) {
  BoundedText<sizeof copied_path + 160> line;
  line.append("urnic: the run directory ").append(copied_path).append(" ").append(trust::describe(fault));
  line.append(": its devices are not shown; set ").append(abi::kRunDirectoryVariable);
  line.append(" to a path of your own\n");
  // A program that has no standard error cannot be told.
  [[maybe_unused]] const ssize_t written = real::write(STDERR_FILENO, line.text(), line.length());
}

// As long as there is no such directory, its paths are mapped, and lead nowhere.
bool look_whether_trusted() {
  const KeptErrno kept;
  const trust::DirectoryFault fault = trust::check_run_directory(copied_path);
  if (fault == trust::DirectoryFault::missing) return true;
  const bool trusted = fault == trust::DirectoryFault::none;
  RunDirectoryState expected = RunDirectoryState::awaited;
  const bool first = run_directory_state.compare_exchange_strong(
      expected, trusted ? RunDirectoryState::present : RunDirectoryState::absent);
  if (first && !trusted) tell_refusal(fault);
  return trusted;
}

// Constructors of the program's libraries run before this one and may already have asked.
__attribute__((constructor)) void read_at_load() { read_run_directory(); }

}  // namespace

bool read_run_directory() {
  // Before libc has set itself up there is no environment to read: ask again later.
  if (environ == nullptr) return false;
  RunDirectoryState expected = RunDirectoryState::unknown;
  if (run_directory_state.compare_exchange_strong(expected, RunDirectoryState::being_read)) {
    expected = copy_run_directory();
    run_directory_state.store(expected, std::memory_order_release);
  }
  if (expected == RunDirectoryState::awaited) return look_whether_trusted();
  return expected == RunDirectoryState::present;
}

const char* run_directory() { return copied_path; }

}  // namespace urnic::kernel
