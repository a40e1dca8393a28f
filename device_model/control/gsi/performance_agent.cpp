#include "device_model/control/gsi/performance_agent.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

#include "wire/mad/performance.hpp"

namespace urnic::control {
namespace {

using wire::mad::ClassPortInfo;
using wire::mad::Mad;
using wire::mad::MadError;
using wire::mad::MadHeader;
using wire::mad::MadStatus;
using wire::mad::Method;
using wire::mad::PortCounters;
using wire::mad::PortCountersExtended;

// Counters are read from the engine no more often: a flood of Gets must not stop its rounds.
constexpr std::chrono::milliseconds kReadAgainAfter{1};
constexpr std::uint8_t kAllPorts = 0xFF;
// ClassPortInfo::capability_mask (IBTA 13.4.8.1, 16.1.3): a port of 0xFF is all ports; PortCounters has QP1's
// drops. PortXmitWait is counted: perfquery shows it only then.
constexpr std::uint16_t kAllPortSelect = 1 << 8;
constexpr std::uint16_t kTransmitWaitSupported = 1 << 12;
constexpr std::uint16_t kQp1DroppedSupported = 1 << 15;
constexpr std::uint8_t kResponseTime = 18;  // code for 1.07 s
constexpr std::uint8_t kFourBits = 15;

template <class Counter>
constexpr Counter kLargest = std::numeric_limits<Counter>::max();

// Calls `visit(bit, name, counter, largest)` for each counter: its bit in the selection, its name in sysfs,
// and the value at which it stops (IBTA 16.1.3.5).
template <class Visit>
void for_each_counter(PortCounters& c, Visit visit) {
  const auto whole = [&](unsigned bit, std::string_view name, auto& counter) {
    visit(bit, name, counter, kLargest<std::decay_t<decltype(counter)>>);
  };
  whole(0, "symbol_error", c.symbol_errors);
  whole(1, "link_error_recovery", c.link_error_recoveries);
  whole(2, "link_downed", c.link_downed);
  whole(3, "port_rcv_errors", c.receive_errors);
  whole(4, "port_rcv_remote_physical_errors", c.receive_remote_physical_errors);
  whole(5, "port_rcv_switch_relay_errors", c.receive_switch_relay_errors);
  whole(6, "port_xmit_discards", c.transmit_discards);
  whole(7, "port_xmit_constraint_errors", c.transmit_constraint_errors);
  whole(8, "port_rcv_constraint_errors", c.receive_constraint_errors);
  visit(9, "local_link_integrity_errors", c.local_link_integrity_errors, kFourBits);
  visit(10, "excessive_buffer_overrun_errors", c.excessive_buffer_overrun_errors, kFourBits);
  whole(11, "VL15_dropped", c.vl15_dropped);
  whole(12, "port_xmit_data", c.transmit_data);
  whole(13, "port_rcv_data", c.receive_data);
  whole(14, "port_xmit_packets", c.transmit_packets);
  whole(15, "port_rcv_packets", c.receive_packets);
  whole(16, "port_xmit_wait", c.transmit_wait);
  whole(17, "QP1_dropped", c.qp1_dropped);
}

template <class Visit>
void for_each_counter(PortCountersExtended& c, Visit visit) {
  const auto whole = [&](unsigned bit, std::string_view name, std::uint64_t& counter) {
    visit(bit, name, counter, kLargest<std::uint64_t>);
  };
  whole(0, "port_xmit_data", c.transmit_data);
  whole(1, "port_rcv_data", c.receive_data);
  whole(2, "port_xmit_packets", c.transmit_packets);
  whole(3, "port_rcv_packets", c.receive_packets);
  whole(4, "unicast_xmit_packets", c.unicast_transmit_packets);
  whole(5, "unicast_rcv_packets", c.unicast_receive_packets);
  whole(6, "multicast_xmit_packets", c.multicast_transmit_packets);
  whole(7, "multicast_rcv_packets", c.multicast_receive_packets);
}

std::uint32_t selection(const PortCounters& c) {
  return c.counter_select | std::uint32_t{c.counter_select2} << 16;
}
std::uint32_t selection(const PortCountersExtended& c) { return c.counter_select; }

std::uint64_t value_of(const std::vector<CounterValue>& values, std::string_view name) {
  const auto found = std::find_if(values.begin(), values.end(),
                                  [&](const CounterValue& counter) { return counter.name == name; });
  return found != values.end() ? found->value : 0;
}

std::optional<Mad> answer_class_port_info(MadHeader header) {
  header.method = Method::get_response;
  ClassPortInfo info;
  info.capability_mask =
      kAllPortSelect | wire::mad::kExtendedWidthSupported | kTransmitWaitSupported | kQp1DroppedSupported;
  info.response_time = wire::mad::TimeoutCode{kResponseTime};
  return encode(info, header);
}

}  // namespace

void PerformanceAgent::read() {
  const auto now = std::chrono::steady_clock::now();
  if (!ports_.empty() && now - read_at_ < kReadAgainAfter) return;
  auto values = read_();
  ports_.resize(values.size());
  for (std::size_t i = 0; i < ports_.size(); ++i) ports_[i].values = std::move(values[i]);
  read_at_ = now;
}

std::span<PerformanceAgent::Port> PerformanceAgent::selected_ports(std::uint8_t select) {
  if (select == kAllPorts) return ports_;
  if (select == 0 || select > ports_.size()) return {};
  return {&ports_[select - 1u], 1};
}

// Of several ports: their sum (IBTA 16.1.3.5). What a Set writes is then the value of each.
template <class Attribute>
std::optional<Mad> PerformanceAgent::answer_counters(MadHeader header, std::span<const std::byte> mad,
                                                     TakenOff Port::*off) {
  Attribute counters;
  if (decode(mad, counters) != MadError::none) return {};
  const bool set = header.method == Method::set;
  header.method = Method::get_response;
  read();
  const std::span<Port> ports = selected_ports(counters.port_select);
  if (ports.empty()) {
    header.status = MadStatus::invalid_field;
    return encode(counters, header);
  }
  const std::uint32_t selected = set ? selection(counters) : 0;
  for_each_counter(counters, [&](unsigned bit, std::string_view name, auto& counter, auto largest) {
    std::uint64_t sum = 0;
    for (Port& port : ports) {
      const std::uint64_t total = value_of(port.values, name);
      std::uint64_t& taken_off = (port.*off)[bit];
      if ((selected >> bit & 1) != 0) taken_off = total - counter;
      sum += total - taken_off;
    }
    counter = static_cast<std::decay_t<decltype(counter)>>(std::min<std::uint64_t>(sum, largest));
  });
  return encode(counters, header);
}

std::optional<Mad> PerformanceAgent::answer(const MadHeader& header, std::span<const std::byte> mad) {
  using wire::mad::PerformanceAttribute;
  const bool request = header.method == Method::get || header.method == Method::set;
  if (!request || header.management_class != wire::mad::ManagementClass::performance ||
      header.class_version != wire::mad::kPerformanceClassVersion) {
    return {};
  }
  switch (static_cast<PerformanceAttribute>(header.attribute.value)) {
    case PerformanceAttribute::class_port_info:
      return header.method == Method::get ? answer_class_port_info(header) : std::nullopt;
    case PerformanceAttribute::port_counters:
      return answer_counters<PortCounters>(header, mad, &Port::off_counters);
    case PerformanceAttribute::port_counters_extended:
      return answer_counters<PortCountersExtended>(header, mad, &Port::off_extended);
  }
  return {};
}

}  // namespace urnic::control
