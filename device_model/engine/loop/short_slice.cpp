#include "device_model/engine/loop/short_slice.hpp"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace urnic::engine {

namespace {

// The first version of struct sched_attr in <linux/sched/types.h>; in older C libraries that header and
// <sched.h> exclude each other.
struct SchedulingAttributes {
  std::uint32_t size;
  std::uint32_t policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t runtime_ns;  // the slice, for SCHED_OTHER
  std::uint64_t deadline_ns;
  std::uint64_t period_ns;
};
static_assert(sizeof(SchedulingAttributes) == 48);

constexpr std::uint64_t kResetOnFork = 1;         // SCHED_FLAG_RESET_ON_FORK
constexpr std::uint64_t kSmallSliceNs = 100'000;  // the kernel's minimum; 0 is its default

}  // namespace

void ask_for_slices(Slices kind) {
  SchedulingAttributes attributes{};
  attributes.size = sizeof attributes;
  attributes.policy = SCHED_OTHER;
  attributes.flags = kResetOnFork;
  attributes.nice = getpriority(PRIO_PROCESS, 0);
  attributes.runtime_ns = kind == Slices::small ? kSmallSliceNs : 0;
  syscall(SYS_sched_setattr, 0, &attributes, 0U);
}

}  // namespace urnic::engine
