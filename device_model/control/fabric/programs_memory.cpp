#include "device_model/control/fabric/programs_memory.hpp"

#include <unistd.h>

#include <algorithm>

#include "device_model/control/log/log.hpp"

namespace urnic::control {

namespace {

std::uint64_t physical_memory() {
  return static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

std::uint64_t ProgramsMemory::bytes() {
  const auto now = std::chrono::steady_clock::now();
  if (now < look_at_) return bytes_;
  look_at_ = now + period_;
  const std::uint64_t machine = physical_memory();
  const std::uint64_t before = bytes_;
  bytes_ = std::min(machine, groups_.memory_limit().value_or(machine)) / 2;
  if (before != 0 && bytes_ != before) {
    log::info(
        "the control group has other memory now: programs may have {} MiB of the device process's, not {}",
        bytes_ >> 20, before >> 20);
  }
  return bytes_;
}

}  // namespace urnic::control
