#include "device_model/control/umad/infiniband_ports.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "device_model/control/fabric/datagram_links.hpp"
#include "device_model/control/fabric/partition_table.hpp"
#include "device_model/control/gsi/counted_nodes.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/engine/engine.hpp"
#include "wire/mad/smp.hpp"

namespace urnic::control {
namespace {

using wire::mad::Method;

constexpr std::uint32_t kGeneralServices = 1;

// As Linux answers a Get or Set that nobody takes (ib_mad's generate_unmatched_resp).
wire::mad::Mad unsupported(const subnet::Datagram& datagram, wire::mad::MadHeader header) {
  wire::mad::Mad mad = datagram.mad;
  wire::mad::Smp smp;
  header.method = Method::get_response;
  header.status = wire::mad::MadStatus::unsupported_method_and_attribute;
  if (decode(mad, smp) == wire::mad::MadError::none && smp.is_directed()) {
    smp.header.method = header.method;
    smp.header.status = header.status;
    smp.is_returning = true;
    return encode(smp);
  }
  encode(header, mad);
  return mad;
}

}  // namespace

InfinibandPorts::InfinibandPorts(EventLoop& loop, Fabric& fabric, Gsi& gsi, Taker taker)
    : fabric_(fabric),
      gsi_(gsi),
      taker_(std::move(taker)),
      violations_(fabric.subnet().nodes().size()),
      line_faults_(violations_.size()),
      repeat_(loop, [this] { repeat_traps(); }) {
  fabric_.subnet().on_arrival(
      [this](subnet::NodeIndex node, const subnet::Datagram& datagram) { arrive(node, datagram); });
  DatagramLinks* const links = fabric_.datagram_links();
  if (links == nullptr) return;
  arrivals_ = ScopedWatch(loop, links->arrival_descriptor(), EPOLLIN, [this, links](std::uint32_t) {
    links->take_arrivals();
    changed();
  });
  line_news_ = std::make_unique<LineNews>(loop, fabric_, [this] { hear_of_lines(); });
}

InfinibandPorts::~InfinibandPorts() { fabric_.subnet().on_arrival({}); }

// QP0 is for subnet management, and for nothing else (IBTA 13.5.1).
GsiSent InfinibandPorts::send(ServedDevice& device, const GsiAddress& to, MadBytes mad) {
  wire::mad::MadHeader header;
  wire::mad::decode(mad, header);
  const std::uint32_t qpn = is_subnet_management(header.management_class) ? 0 : kGeneralServices;
  const auto pkey = qpn == kGeneralServices ? pkey_at(fabric_, device, to.pkey_index) : wire::Pkey{};
  if (!pkey || (qpn == kGeneralServices && to.peer_qpn.value != kGeneralServices))
    return GsiSent::bad_address;
  if (qpn == kGeneralServices && goes_as_packet(device, {to.lid})) return gsi_.send(device, to, mad);
  subnet::Datagram datagram{.destination = {to.lid},
                            .source_qpn = qpn,
                            .destination_qpn = qpn,
                            .service_level = to.service_level,
                            .pkey = *pkey};
  std::copy(mad.begin(), mad.end(), datagram.mad.begin());
  const bool has_left = fabric_.subnet().send(*device.adapter, datagram);
  changed();
  return has_left ? GsiSent::sent : GsiSent::bad_address;
}

// Only devices and stations take packets of queue pair 1. The permissive LID is the own port's.
bool InfinibandPorts::goes_as_packet(const ServedDevice& device, wire::Lid destination) const {
  if (fabric_.subnet().port(*device.adapter).lid == wire::Lid{} || !wire::is_unicast(destination))
    return false;
  const auto holder = fabric_.subnet().holder_of(destination);
  return !holder || fabric_.device_at(*holder) != nullptr || fabric_.stations().is_at(*holder);
}

void InfinibandPorts::arrive(subnet::NodeIndex node, const subnet::Datagram& datagram) {
  wire::mad::MadHeader header;
  if (decode(datagram.mad, header) != wire::mad::MadError::none) return;
  if (datagram.destination_qpn == kGeneralServices) {
    if (const auto counters = performance_of(node).answer(header, datagram.mad))
      return answer(node, datagram, *counters);
  }
  if (ServedDevice* const device = fabric_.device_at(node))
    return arrive_at_device(*device, datagram, header);
  if (header.method == Method::get || header.method == Method::set)
    answer(node, datagram, unsupported(datagram, header));
}

PerformanceAgent& InfinibandPorts::performance_of(subnet::NodeIndex node) {
  const ServedDevice* const device = fabric_.device_at(node);
  if (device != nullptr) return gsi_.performance(*device);
  const auto known = performance_.find(node);
  if (known != performance_.end()) return known->second;
  return performance_.try_emplace(node, counters_of_node(fabric_, node)).first->second;
}

void InfinibandPorts::arrive_at_device(ServedDevice& device, const subnet::Datagram& datagram,
                                       const wire::mad::MadHeader& header) {
  GsiAddress from;
  from.peer_qpn = wire::Qpn{datagram.source_qpn};
  from.lid = datagram.source.value;
  from.service_level = datagram.service_level;
  if (datagram.destination_qpn == kGeneralServices && gsi_.offer(device, from, datagram.mad)) return;
  if (taker_(device, from, datagram.mad)) return;
  const bool wants_answer = header.method == Method::get || header.method == Method::set;
  ++(wants_answer ? device.gsi.unsupported : device.gsi.unclaimed);
  if (wants_answer) answer(*device.adapter, datagram, unsupported(datagram, header));
}

void InfinibandPorts::answer(subnet::NodeIndex node, const subnet::Datagram& question,
                             const wire::mad::Mad& mad) {
  fabric_.subnet().send(node, {.destination = question.source,
                               .source_qpn = question.destination_qpn,
                               .destination_qpn = question.source_qpn,
                               .service_level = question.service_level,
                               .pkey = question.pkey,
                               .mad = mad});
  changed();
}

void InfinibandPorts::set_manager(const ServedDevice& device, bool is_manager) {
  fabric_.subnet().set_manager(*device.adapter, is_manager);
  changed();
}

void InfinibandPorts::set_cables(const std::vector<subnet::PortPlace>& places, bool is_plugged) {
  for (const subnet::PortPlace place : places) fabric_.subnet().set_cable(place, is_plugged);
  changed();
}

void InfinibandPorts::report_violations(const ServedDevice& device, const CounterSnapshot& counters) {
  Violations& told = violations_[*device.adapter];
  const Violations now{counters.transport.pkey_violations, counters.transport.qkey_violations};
  if (now.pkeys == told.pkeys && now.qkeys == told.qkeys) return;
  const engine::KeyViolation& last = counters.last_violation;
  fabric_.subnet().report(*device.adapter, {.pkeys = now.pkeys - told.pkeys,
                                            .qkeys = now.qkeys - told.qkeys,
                                            .is_qkey = last.is_qkey,
                                            .key = last.key,
                                            .source = last.source,
                                            .destination = last.destination,
                                            .service_level = last.service_level,
                                            .source_qpn = last.source_qpn.value,
                                            .destination_qpn = last.destination_qpn.value,
                                            .source_gid = last.source_gid,
                                            .destination_gid = last.destination_gid});
  told = now;
  changed();
}

// One trap each, however many faults there were.
void InfinibandPorts::report_line_faults(const ServedDevice& device, const CounterSnapshot& counters) {
  const subnet::PortPlace own{*device.adapter, 1};
  ToldFaults& told = line_faults_[own.node];
  const ToldFaults now{counters.line, counters.far_line};
  const ToldFaults before = std::exchange(told, now);
  if (now == before) return;
  const auto far = fabric_.subnet().node(own.node).ports[own.port].peer;
  if (now.own.integrity != before.own.integrity) fabric_.subnet().report_integrity(own);
  if (far && now.far.integrity != before.far.integrity) fabric_.subnet().report_integrity(*far);
  if (now.own.silences != before.own.silences) {
    fabric_.subnet().set_silence(own, true);
    silent_.push_back(&device);
  }
  changed();
  end_silences();
}

void InfinibandPorts::hear_of_lines() {
  end_silences();
  if (reader_) reader_();
}

// A link that lets something through again trains.
void InfinibandPorts::end_silences() {
  const std::size_t ended = std::erase_if(silent_, [this](const ServedDevice* device) {
    bool is_up = false;
    engine::Engine& engine = fabric_.engine(*device);
    engine.execute([&] { is_up = device->device->link_up(engine.now()); });
    if (is_up) fabric_.subnet().set_silence({*device->adapter, 1}, false);
    return is_up;
  });
  if (ended != 0) changed();
}

// Traps come from changes only, so this is where the next repetition is due to be thought of.
void InfinibandPorts::changed() {
  fabric_.subnet_changed();
  if (repeat_.is_set()) return;
  if (const auto interval = fabric_.subnet().trap_interval()) repeat_.set(*interval);
}

void InfinibandPorts::repeat_traps() {
  fabric_.subnet().repeat_traps();
  changed();
}

}  // namespace urnic::control
