#include "provider/shared_pages/other_threads.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>

#include "provider/freestanding/calls.hpp"
#include "provider/freestanding/descriptor.hpp"
#include "provider/freestanding/file_status.hpp"

namespace urnic::provider {
namespace {

constinit std::atomic<bool (*)()> own_thread_runs{nullptr};

}  // namespace

void tell_of_own_thread(bool (*runs)()) { own_thread_runs.store(runs, std::memory_order_release); }

// The folder has as many links as threads, and two of its own (proc(5)).
bool have_other_threads() {
  const Descriptor threads(open_file("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat status {};
  if (!threads.valid() || file_status(threads.get(), status) != 0) return true;
  auto* const runs = own_thread_runs.load(std::memory_order_acquire);
  const unsigned own = runs != nullptr && runs() ? 2 : 1;
  return status.st_nlink != 2 + own;
}

}  // namespace urnic::provider
