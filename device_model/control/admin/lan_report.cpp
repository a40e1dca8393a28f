#include "device_model/control/admin/lan_report.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <string_view>

#include "device_model/control/fabric/engine_unit.hpp"
#include "device_model/engine/engine.hpp"
#include "device_model/link/frames/lan_port.hpp"

namespace urnic::control {
namespace {

using nlohmann::json;

// By NeighbourTable::State.
constexpr std::array<std::string_view, 5> kNeighbourStates{"incomplete", "reachable", "stale", "probe",
                                                           "unreachable"};

// By link::CarrierKind; the first two are both named by what is at their ends.
constexpr std::array<std::string_view, 5> kKindNames{"listen", "connect", "datagram", "interface", "tap"};

std::int64_t milliseconds(transport::Nanoseconds time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
}

json describe_counters(const link::LanCounters& counters) {
  const link::CarrierCounters& carrier = counters.carrier;
  return {{"rx_frames", counters.received_frames},
          {"rx_bytes", counters.received_bytes},
          {"rx_impossible_length", carrier.impossible_length},
          {"rx_broken_streams", carrier.broken_streams},
          {"rx_kernel_drops", carrier.kernel_drops},
          {"rx_other_vlan", counters.other_vlan},
          {"rx_group_queries", counters.queries},
          {"tx_frames", counters.sent_frames},
          {"tx_bytes", counters.sent_bytes},
          {"tx_group_reports", counters.reports},
          {"tx_refused", carrier.refused},
          {"tx_peer_does_not_read", counters.overruns},
          {"tx_no_peer", counters.unconnected},
          {"stalled_peers", carrier.stalled_peers},
          {"connections", carrier.connections},
          {"refused_users", carrier.strangers}};
}

// An address that is known in two VLANs is shown once.
json describe_neighbours(const std::map<std::uint16_t, link::NeighbourTable>& tables) {
  json neighbours = json::object();
  for (const auto& [vlan, table] : tables) {
    for (const auto& [gid, entry] : table.entries()) {
      json& neighbour = neighbours[to_text(gid)];
      neighbour["state"] = kNeighbourStates[static_cast<std::size_t>(entry.state)];
      if (entry.mac != wire::MacAddress{}) neighbour["mac"] = to_text(entry.mac);
      if (vlan != 0) neighbour["vlan"] = vlan;
    }
  }
  return neighbours;
}

}  // namespace

json describe_lan(Fabric& fabric) {
  link::LanPort& lan = *fabric.lan();
  EngineUnit& home = *fabric.units().front();
  const LanSettings& settings = fabric.lan_settings();
  json described{{"kind", kKindNames[static_cast<std::size_t>(settings.carrier.kind)]},
                 {"name", settings.carrier.name}};
  if (!settings.carrier.remote.empty()) described["remote"] = settings.carrier.remote;
  if (settings.vlan) described["vlan"] = *settings.vlan;
  home.engine.execute([&] {
    const transport::Time now = home.engine.now();
    described["peer"] = lan.is_connected() ? "connected" : "none";
    if (const auto received = lan.last_received()) described["heard_ms_ago"] = milliseconds(now - *received);
    if (const auto since = lan.takes_nothing_since(now))
      described["takes_nothing_ms"] = milliseconds(now - *since);
    described["counters"] = describe_counters(lan.counters());
    described["counters"]["rx_own_source_address"] = home.frame_switch.refused_sources();
  });
  described["groups"] = lan.groups().members();
  described["neighbours"] = describe_neighbours(lan.neighbours().tables());
  return described;
}

}  // namespace urnic::control
