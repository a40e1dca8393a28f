// An InfiniBand fabric under virtual time whose management datagrams pass links with faults.
#pragma once

#include <boost/test/unit_test.hpp>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "device_model/control/fabric/datagram_links.hpp"
#include "device_model/control/fabric/engine_unit.hpp"
#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/sysfs/counter_values.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/fault/fault_plan.hpp"
#include "device_model/fault/plan_file.hpp"
#include "device_model/subnet/manager/sweep.hpp"
#include "device_model/subnet/network.hpp"
#include "wire/mad/smp.hpp"

namespace urnic::control::test {

using link::Direction;
using transport::Nanoseconds;
using wire::mad::Smp;
using wire::mad::SubnetAttribute;

inline constexpr std::size_t kAsker = 0;
inline constexpr std::size_t kOther = 1;

inline Smp question(std::initializer_list<unsigned> ports,
                    SubnetAttribute attribute = SubnetAttribute::node_info) {
  Smp smp;
  smp.header.management_class = wire::mad::ManagementClass::subnet_directed_route;
  smp.header.class_version = wire::mad::kSubnetClassVersion;
  smp.header.method = wire::mad::Method::get;
  smp.header.attribute = {static_cast<std::uint16_t>(attribute)};
  smp.hop_count = static_cast<std::uint8_t>(ports.size());
  std::size_t hop = 1;
  for (const unsigned port : ports) smp.initial_path[hop++] = static_cast<std::byte>(port);
  return smp;
}

inline std::string rule(const std::string& lines) { return "[[fault]]\n" + lines + "\n"; }

// Devices on a switch, all with LIDs, and a fault plan: two, if not said otherwise. The first device's port
// is at port 1 of the switch, the next one's at port 2; the first one asks.
struct LinkedSubnet {
  explicit LinkedSubnet(const Configuration& configuration) : fabric(configuration) {
    subnet::sweep(fabric.subnet());
    fabric.subnet_changed();
    fabric.subnet().on_arrival(
        [this](subnet::NodeIndex node, const subnet::Datagram& datagram) { take(node, datagram); });
  }
  LinkedSubnet() : LinkedSubnet(infiniband_configuration()) {}
  ~LinkedSubnet() {
    fabric.subnet().on_arrival({});
    set_faults(nullptr);
  }

  link::Switch& home() const { return fabric.infiniband_unit().frame_switch; }
  const ServedDevice& device(std::size_t index) const { return *fabric.devices()[index]; }
  wire::Lid lid(std::size_t index) const { return fabric.subnet().port(*device(index).adapter).lid; }
  wire::Lid switch_lid() const {
    for (const subnet::Node& node : fabric.subnet().nodes())
      if (node.is_switch()) return node.ports[0].info.lid;
    return {};
  }
  CounterSnapshot counters(std::size_t index) { return snapshot(fabric, device(index)); }

  void load(const std::string& text) {
    set_faults(nullptr);
    std::vector<std::string> names;
    for (const auto& each : fabric.devices()) names.push_back(each->settings.name);
    plan.emplace(fault::parse_plan(text, "plan.toml", names));
    set_faults(&*plan);
  }
  void set_faults(link::FaultHook* hook) {
    for (std::uint32_t index = 0; index < home().ports(); ++index) home().link(index).set_faults(hook);
  }
  // Another link does nothing at all.
  void leave_alone(std::size_t index) { home().link(static_cast<std::uint32_t>(index)).set_faults(nullptr); }
  void configure(std::size_t index, Direction direction, const link::LinkSettings& settings) {
    home().link(static_cast<std::uint32_t>(index)).configure(direction, settings);
  }

  // A switch sends back what is for its queue pair 1.
  void take(subnet::NodeIndex node, const subnet::Datagram& datagram) {
    if (node == *device(kAsker).adapter) return arrived.push_back(datagram);
    if (!fabric.subnet().node(node).is_switch()) return;
    fabric.subnet().send(node, {.destination = datagram.source,
                                .source_qpn = datagram.destination_qpn,
                                .destination_qpn = datagram.source_qpn,
                                .mad = datagram.mad});
  }
  void send(const Smp& smp, wire::Lid destination = wire::kPermissiveLid) {
    fabric.subnet().send(*device(kAsker).adapter, {.destination = destination, .mad = encode(smp)});
  }
  void send_from(subnet::NodeIndex node, const Smp& smp) { fabric.subnet().send(node, {.mad = encode(smp)}); }
  void send_general(wire::Lid destination) {
    subnet::Datagram datagram{.destination = destination, .source_qpn = 1, .destination_qpn = 1};
    wire::mad::encode(wire::mad::MadHeader{.management_class = wire::mad::ManagementClass::performance,
                                           .class_version = 1,
                                           .method = wire::mad::Method::get},
                      datagram.mad);
    fabric.subnet().send(*device(kAsker).adapter, datagram);
  }
  // Until `later` from the beginning. No link has more to do than these turns.
  void run(Nanoseconds later = {}) {
    constexpr link::Load kAll{1000, 1'000'000};
    for (int turn = 0; turn < 20; ++turn) {
      home().deliver_due(fabric.infiniband_unit().engine.now() + later, kAll);
      home().release();
      fabric.datagram_links()->take_arrivals();
    }
  }
  // How many answers come to a question.
  std::size_t answers(std::initializer_list<unsigned> ports) {
    arrived.clear();
    send(question(ports));
    run();
    return arrived.size();
  }

  Fabric fabric;
  std::optional<fault::FaultPlan> plan;
  std::vector<subnet::Datagram> arrived;
};

}  // namespace urnic::control::test
