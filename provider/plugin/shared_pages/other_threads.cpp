#include "provider/plugin/shared_pages/other_threads.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include "provider/plugin/connection/death_watch.hpp"
#include "provider/plugin/freestanding/descriptor.hpp"
#include "provider/plugin/freestanding/file_status.hpp"

namespace urnic::provider {

// The folder has as many links as threads, and two of its own (proc(5)).
bool have_other_threads() {
  const Descriptor threads(open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat status {};
  if (!threads.valid() || file_status(threads.get(), status) != 0) return true;
  const unsigned own = watch_runs() ? 2 : 1;
  return status.st_nlink != 2 + own;
}

}  // namespace urnic::provider
