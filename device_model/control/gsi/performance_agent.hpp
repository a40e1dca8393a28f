// Performance management (IBTA 16.1): answers for the port's counters, which are those of sysfs.
// RoCEv2 ports need no such agent (A17.6), but perfquery asks it.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/sysfs/counter_values.hpp"
#include "wire/mad/mad_header.hpp"
#include "wire/mad/performance.hpp"

namespace urnic::control {

class PerformanceAgent {
 public:
  // `fabric` outlives it.
  explicit PerformanceAgent(Fabric& fabric);

  // The answer to a Get or Set of ClassPortInfo, PortCounters or PortCountersExtended; empty: `mad`, whose
  // header is `header`, is none. A Set changes the values in later answers, and not those in sysfs.
  std::optional<wire::mad::Mad> answer(const ServedDevice& device, const wire::mad::MadHeader& header,
                                       std::span<const std::byte> mad);

 private:
  // By its bit in an attribute's selection: what a Set has taken off the counter.
  using TakenOff = std::array<std::uint64_t, 24>;
  struct Port {
    std::vector<CounterValue> values;  // as they were at `read_at`
    std::chrono::steady_clock::time_point read_at{};
    TakenOff off_counters{};
    TakenOff off_extended{};
  };

  const std::vector<CounterValue>& values(const ServedDevice& device);
  template <class Attribute>
  std::optional<wire::mad::Mad> answer_counters(const ServedDevice& device, wire::mad::MadHeader header,
                                                std::span<const std::byte> mad, TakenOff Port::*off);

  Fabric& fabric_;
  std::vector<Port> ports_;  // by device index
};

}  // namespace urnic::control
