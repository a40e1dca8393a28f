#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "control_groups/control_groups.hpp"
#include "tools/urnic/doctor/examinations.hpp"

namespace urnic::cli::doctor {
namespace {

// Below these a device process with the two default devices does not start.
constexpr std::uint64_t kFewestDescriptors = 256;
constexpr std::uint64_t kLeastAddressSpace = 512 << 20;

constexpr std::uint64_t kLittleMemory = 256 << 20;

std::uint64_t hard_limit(int resource) {
  rlimit limit{};
  return getrlimit(resource, &limit) == 0 ? limit.rlim_max : RLIM_INFINITY;
}

Finding descriptors() {
  const std::uint64_t limit = hard_limit(RLIMIT_NOFILE);
  const std::string seen = limit == RLIM_INFINITY ? "no limit" : fmt::format("at most {} a process", limit);
  if (limit >= kFewestDescriptors) return {Severity::good, "descriptors", seen, ""};
  return {Severity::obstacle, "descriptors", seen,
          fmt::format("raise the hard limit to {} or more (ulimit -Hn)", kFewestDescriptors)};
}

Finding address_space() {
  const std::uint64_t limit = hard_limit(RLIMIT_AS);
  if (limit == RLIM_INFINITY) return {Severity::good, "address space", "no limit", ""};
  const std::string seen = fmt::format("at most {} MiB a process", limit >> 20);
  if (limit < kLeastAddressSpace) {
    return {Severity::obstacle, "address space", seen,
            fmt::format("raise the limit to {} MiB or more (ulimit -v)", kLeastAddressSpace >> 20)};
  }
  return {Severity::hint, "address space", seen,
          "programs with many or large queues need more: remove the limit (ulimit -v unlimited)"};
}

Finding group_memory() {
  const auto limit = control_groups::ControlGroups().memory_limit();
  if (!limit) return {Severity::good, "memory", "no limit of a control group", ""};
  const std::string seen = fmt::format("{} MiB for the control group", *limit >> 20);
  if (*limit > kLittleMemory) return {Severity::good, "memory", seen, ""};
  return {Severity::hint, "memory", seen,
          "the device process limits its queues to half of it; give the container more for large programs"};
}

// Processors that this process may use, and what the control group allows of their time.
double processors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  double count = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
  if (const auto limit = control_groups::ControlGroups().processor_limit()) count = std::min(count, *limit);
  return count;
}

Finding processor_count() {
  const double count = processors();
  const std::string seen = fmt::format("{:.3g} processor{}", count, count == 1 ? "" : "s");
  if (count >= 2) return {Severity::good, "processors", seen, ""};
  return {Severity::hint, "processors", seen,
          "programs and the device process share it, so round trips take longer; two or more are better"};
}

}  // namespace

Findings examine_limits() { return {descriptors(), address_space(), group_memory(), processor_count()}; }

}  // namespace urnic::cli::doctor
