#include "device_model/control/admin/lan_report.hpp"

#include <array>
#include <string_view>

namespace urnic::control {
namespace {

using nlohmann::json;

// By NeighbourTable::State.
constexpr std::array<std::string_view, 5> kStateNames{"incomplete", "reachable", "stale", "probe",
                                                      "unreachable"};

json describe_counters(const link::FrameSocketCounters& counters) {
  return {{"rx_frames", counters.received_frames},      {"rx_bytes", counters.received_bytes},
          {"rx_impossible_length", counters.skipped},   {"rx_other_vlan", counters.other_vlan},
          {"tx_frames", counters.sent_frames},          {"tx_bytes", counters.sent_bytes},
          {"tx_peer_does_not_read", counters.overruns}, {"tx_no_peer", counters.unconnected},
          {"connections", counters.connections}};
}

json describe_neighbours(const link::NeighbourTable& table) {
  json neighbours = json::object();
  for (const auto& [gid, entry] : table.entries()) {
    json& neighbour = neighbours[to_text(gid)];
    neighbour["state"] = kStateNames[static_cast<std::size_t>(entry.state)];
    if (entry.mac != wire::MacAddress{}) neighbour["mac"] = to_text(entry.mac);
  }
  return neighbours;
}

}  // namespace

json describe_lan(Fabric& fabric) {
  link::FrameSocket& lan = *fabric.lan();
  EngineUnit& home = *fabric.units().front();
  json described{{"socket", lan.settings().path}, {"listens", lan.settings().listens}};
  if (lan.settings().vlan) described["vlan"] = *lan.settings().vlan;
  home.engine.execute([&] {
    described["peer"] = lan.is_connected() ? "connected" : "none";
    described["counters"] = describe_counters(lan.counters());
    described["counters"]["rx_own_source_address"] = home.frame_switch.refused_sources();
  });
  described["neighbours"] = describe_neighbours(lan.neighbours().table());
  return described;
}

}  // namespace urnic::control
