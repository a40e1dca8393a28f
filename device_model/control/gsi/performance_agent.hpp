// Performance management of one node (IBTA 16.1): answers for its ports' counters. RoCEv2 ports need no such
// agent (A17.6), but perfquery asks it.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "device_model/control/sysfs/counter_values.hpp"
#include "wire/mad/mad_header.hpp"

namespace urnic::control {

class PerformanceAgent {
 public:
  // The counters of all of the node's ports, from port 1 on, by their names in sysfs; one that is missing is
  // 0.
  using ReadPorts = std::function<std::vector<std::vector<CounterValue>>()>;

  explicit PerformanceAgent(ReadPorts read) : read_(std::move(read)) {}

  // The answer to a Get or Set of ClassPortInfo, PortCounters or PortCountersExtended; empty: `mad`, whose
  // header is `header`, is none. A Set changes the values in later answers, and not those in sysfs.
  std::optional<wire::mad::Mad> answer(const wire::mad::MadHeader& header, std::span<const std::byte> mad);

 private:
  // By its bit in an attribute's selection: what a Set has taken off the counter.
  using TakenOff = std::array<std::uint64_t, 24>;
  struct Port {
    std::vector<CounterValue> values;
    TakenOff off_counters{};
    TakenOff off_extended{};
  };

  void read();
  // The ports that `select` means; empty: there is no such port.
  std::span<Port> selected_ports(std::uint8_t select);
  template <class Attribute>
  std::optional<wire::mad::Mad> answer_counters(wire::mad::MadHeader header, std::span<const std::byte> mad,
                                                TakenOff Port::*off);

  ReadPorts read_;
  std::vector<Port> ports_;  // from port 1 on, as they were at `read_at_`
  std::chrono::steady_clock::time_point read_at_{};
};

}  // namespace urnic::control
