#include "device_model/control/gsi/counted_nodes.hpp"

#include <utility>

#include "device_model/control/fabric/engine_unit.hpp"
#include "device_model/subnet/network.hpp"

namespace urnic::control {
namespace {

// By the names of sysfs; data in 4-byte words (IBTA 16.1.3.5).
std::vector<CounterValue> switch_port_values(const link::LidPortCounters& counters,
                                             const subnet::Port& port) {
  return {{"port_xmit_data", counters.transmitted_bytes / 4},
          {"port_rcv_data", counters.received_bytes / 4},
          {"port_xmit_packets", counters.transmitted_packets},
          {"port_rcv_packets", counters.received_packets},
          {"unicast_xmit_packets", counters.transmitted_packets},
          {"unicast_rcv_packets", counters.received_packets},
          {"port_rcv_errors", counters.receive_errors + counters.line.damaged},
          {"local_link_integrity_errors", counters.line.integrity},
          {"port_xmit_discards", counters.discards},
          {"port_xmit_wait", counters.transmit_wait},
          {"link_downed", port.times_down}};
}

}  // namespace

PerformanceAgent::ReadPorts counters_of_device(Fabric& fabric, const ServedDevice& device) {
  return [&fabric, &device] {
    const CounterSnapshot counters = snapshot(fabric, device);
    std::vector<std::vector<CounterValue>> ports{port_values(counters)};
    ports[0].push_back({"QP1_dropped", counters.management.no_room});
    return ports;
  };
}

PerformanceAgent::ReadPorts counters_of_node(Fabric& fabric, std::uint32_t node) {
  return [&fabric, node] {
    std::vector<std::vector<CounterValue>> ports;
    EngineUnit& home = fabric.infiniband_unit();
    home.engine.execute([&] {
      const link::LidRoutes& routes = std::as_const(home.frame_switch).lid_routes();
      const std::vector<subnet::Port>& all = fabric.subnet().node(node).ports;
      for (std::size_t port = 1; port < all.size(); ++port)
        ports.push_back(
            switch_port_values(routes.counters(node, static_cast<std::uint8_t>(port)), all[port]));
    });
    return ports;
  };
}

}  // namespace urnic::control
