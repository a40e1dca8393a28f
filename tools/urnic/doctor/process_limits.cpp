#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

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

// The first word of a control file, of the group that a container sees as its root.
std::string control_group_value(const char* file) {
  std::ifstream stream(fmt::format("/sys/fs/cgroup/{}", file));
  std::string word;
  stream >> word;
  return word;
}

std::optional<std::uint64_t> number(const std::string& word) {
  if (word.empty() || word.find_first_not_of("0123456789") != std::string::npos || word.size() > 18)
    return std::nullopt;
  return std::stoull(word);
}

Finding group_memory() {
  const auto limit = number(control_group_value("memory.max"));
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
  std::ifstream stream("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (stream >> quota >> period; period > 0 && number(quota)) {
    count = std::min(count, static_cast<double>(*number(quota)) / period);
  }
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
