#include "device_model/engine/loop/processor_share.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <charconv>

namespace urnic::engine {

ProcessorShareReader::ProcessorShareReader()
    : file_(open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}

std::optional<ProcessorShare> ProcessorShareReader::read() const {
  char text[64];
  const ssize_t length = file_ ? pread(file_.get(), text, sizeof text, 0) : -1;
  if (length <= 0) return {};
  std::int64_t ran = 0;
  std::int64_t waited = 0;
  const char* const end = text + length;
  const auto first = std::from_chars(text, end, ran);
  if (first.ec != std::errc() || first.ptr == end) return {};
  if (std::from_chars(first.ptr + 1, end, waited).ec != std::errc()) return {};
  return ProcessorShare{transport::Nanoseconds(ran), transport::Nanoseconds(waited)};
}

// The thread's mask is read each time: somebody else (taskset) may change it, too. With more than CPU_SETSIZE
// processors the kernel refuses.
void ProcessorChoice::avoid_this() {
  avoid_none();
  const int here = sched_getcpu();
  cpu_set_t others;
  if (here < 0 || here >= CPU_SETSIZE || sched_getaffinity(0, sizeof others, &others) != 0) return;
  CPU_CLR(here, &others);
  if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return;
  avoided_ = here;
}

void ProcessorChoice::avoid_none() {
  cpu_set_t allowed;
  if (!avoided_ || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  CPU_SET(*avoided_, &allowed);
  sched_setaffinity(0, sizeof allowed, &allowed);
  avoided_.reset();
}

}  // namespace urnic::engine
