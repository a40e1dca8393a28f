#include "device_model/control/sysfs/counter_values.hpp"

#include <utility>

#include "device_model/control/fabric/datagram_links.hpp"
#include "device_model/control/fabric/engine_unit.hpp"
#include "device_model/control/fabric/udp_wire.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/engine/engine.hpp"
#include "device_model/link/switch.hpp"
#include "device_model/subnet/network.hpp"

namespace urnic::control {
namespace {

// "Outbound packets discarded by the port because the port is down or congested": the link is between port
// and switch.
std::uint64_t transmit_discards(const link::Link* link) {
  if (link == nullptr) return 0;
  const link::LinkCounters counters = link->channel(link::Direction::transmit).counters();
  return counters.drops(link::DropCause::cut) + counters.drops(link::DropCause::queue_full);
}

}  // namespace

CounterSnapshot snapshot(Fabric& fabric, const ServedDevice& device) {
  CounterSnapshot copy;
  engine::Engine& engine = fabric.engine(device);
  engine.execute([&] {
    copy = {.transport = device.device->counters(),
            .port = device.device->port_counters(),
            .management = device.management->counters(),
            .last_violation = device.device->last_violation(),
            .gsi = device.gsi,
            .transmit_discards = transmit_discards(fabric.switch_of(device).existing_link(device.index)),
            .transmit_wait = 0,
            .line = {},
            .far_line = {},
            .management_dropped = 0,
            .link_up = device.device->link_up(engine.now())};
    if (!device.adapter) return;
    const link::LidRoutes& routes = std::as_const(fabric.switch_of(device)).lid_routes();
    const link::LidPortCounters& in_fabric = routes.counters(*device.adapter, 1);
    copy.transmit_discards += in_fabric.discards;
    copy.transmit_wait = in_fabric.transmit_wait;
    copy.line = in_fabric.line;
    copy.port.receive_errors += in_fabric.line.damaged;
    const auto far_end = routes.peer_of({*device.adapter, 1});
    if (far_end && !routes.node(far_end->node).has_device())
      copy.far_line = routes.counters(far_end->node, far_end->port).line;
    const DroppedDatagrams dropped = fabric.datagram_links()->dropped(device);
    copy.management_dropped = dropped.subnet_management;
    copy.management.no_room += dropped.general_received;
    copy.transmit_discards += dropped.general_sent;
  });
  if (device.adapter) copy.port.link_downed += fabric.subnet().node(*device.adapter).ports[1].times_down;
  return copy;
}

std::vector<SwitchCounterValue> switch_values(Fabric& fabric) {
  std::uint64_t unknown_destination = 0;
  std::uint64_t trunk_overruns = 0;
  fabric.execute_on_all([&](EngineUnit& unit) {
    unknown_destination += unit.frame_switch.unknown_destination();
    trunk_overruns += unit.frame_switch.trunk_overruns();
  });
  return {{"unknown_destination", unknown_destination}, {"trunk_overruns", trunk_overruns}};
}

std::vector<CounterValue> port_values(const CounterSnapshot& counters) {
  const engine::PortCounters& port = counters.port;
  return {
      {"VL15_dropped", counters.management_dropped},
      {"excessive_buffer_overrun_errors", port.buffer_overruns},
      {"link_downed", port.link_downed},
      {"link_error_recovery", 0},
      {"local_link_integrity_errors", counters.line.integrity},
      {"multicast_rcv_packets", port.received_multicast},
      {"multicast_xmit_packets", port.transmitted_multicast},
      {"port_rcv_constraint_errors", 0},
      {"port_rcv_data", port.received_bytes / 4},  // in 4-byte words (IBTA 16.1.3.5)
      {"port_rcv_errors", port.receive_errors},
      {"port_rcv_packets", port.received_packets},
      {"port_rcv_remote_physical_errors", 0},
      {"port_rcv_switch_relay_errors", 0},
      {"port_xmit_constraint_errors", 0},
      {"port_xmit_data", port.transmitted_bytes / 4},
      {"port_xmit_discards", counters.transmit_discards},
      {"port_xmit_packets", port.transmitted_packets},
      {"port_xmit_wait", counters.transmit_wait},
      {"symbol_error", 0},
      {"unicast_rcv_packets", port.received_packets - port.received_multicast},
      {"unicast_xmit_packets", port.transmitted_packets - port.transmitted_multicast},
  };
}

std::vector<CounterValue> hardware_values(const CounterSnapshot& counters) {
  const transport::Counters& c = counters.transport;
  return {
      {"bad_resp_err", c.bad_responses},                            // bnxt_re
      {"duplicate_acknowledgement", c.duplicate_acknowledgements},  // urnic's own
      {"duplicate_request", c.duplicate_request},
      {"implied_nak_seq_err", c.implied_nak_sequence_error},
      {"local_ack_timeout_err", c.local_ack_timeout},
      {"np_cnp_sent", c.congestion_notifications},
      {"np_ecn_marked_roce_packets", c.congestion_marks},
      {"out_of_buffer", c.rnr_nak_sent + c.messages_without_receive},
      {"out_of_sequence", c.out_of_sequence},
      {"packet_seq_err", c.packet_sequence_error},
      {"req_cqe_error", c.requester_cqe_errors},
      {"req_cqe_flush_error", c.requester_flushed},
      {"req_remote_access_errors", c.requester_remote_access_errors},
      {"req_remote_invalid_request", c.requester_remote_invalid_request},
      {"req_rnr_retries_exceeded", c.rnr_retry_exceeded},
      {"req_transport_retries_exceeded", c.retry_exceeded},
      {"resp_cqe_error", c.responder_cqe_errors},
      {"resp_cqe_flush_error", c.responder_flushed},
      {"resp_local_length_error", c.responder_local_length_errors},
      {"resp_remote_access_errors", c.responder_access_errors},
      {"resp_remote_invalid_request", c.responder_invalid_requests},   // urnic's own
      {"resp_remote_operation_errors", c.responder_operation_errors},  // urnic's own
      {"retrans_pkts", c.retransmitted_packets},                       // efa
      {"rnr_nak_retry_err", c.rnr_nak_retry},
      {"roce_adp_retrans", c.adaptive_retransmissions},
      {"roce_adp_retrans_to", c.adaptive_timeouts},
      {"roce_slow_restart", c.slow_restarts},
      {"roce_slow_restart_cnps", 0},  // no QP slows down by notifications that it makes itself
      {"roce_slow_restart_trans", c.slow_restarts},
      {"rp_cnp_handled", c.notifications_handled},
      {"rp_cnp_ignored", c.notifications_ignored},
      {"rx_atomic_requests", c.received_atomic_requests},
      {"rx_pkey_violations", c.pkey_violations},             // urnic's own
      {"rx_qkey_violations", c.qkey_violations},             // urnic's own
      {"rx_datagram_discards", c.messages_without_receive},  // urnic's own
      {"rx_held_contradictions", c.held_contradictions},     // urnic's own
      {"rx_other_port_discards", c.other_port_discards},     // urnic's own
      {"rx_held_discards", c.held_discards},                 // urnic's own
      {"rx_held_duplicates", c.held_duplicates},             // urnic's own
      {"rx_held_packets", c.held_packets},                   // urnic's own
      {"rx_icrc_encapsulated", counters.port.icrc_errors},
      {"rx_mad_discards", counters.management.no_room},     // urnic's own
      {"rx_mad_errors", counters.management.malformed},     // urnic's own
      {"rx_mads", counters.management.received},            // urnic's own
      {"rx_mads_unclaimed", counters.gsi.unclaimed},        // urnic's own
      {"rx_mads_unsupported", counters.gsi.unsupported},    // urnic's own
      {"rx_not_roce", counters.port.not_roce},              // urnic's own
      {"rx_read_repeat_discards", c.read_repeat_discards},  // urnic's own
      {"rx_read_requests", c.received_read_requests},
      {"rx_send_requests", c.received_send_requests},  // urnic's own
      {"rx_unknown_qp", counters.port.unknown_qp},     // urnic's own
      {"rx_write_requests", c.received_write_requests},
      {"rx_wrong_address", counters.port.wrong_address},         // urnic's own
      {"rx_wrong_origin", counters.port.wrong_origin},           // urnic's own
      {"tx_mad_discards", counters.gsi.not_sent},                // urnic's own
      {"tx_mads", counters.management.sent},                     // urnic's own
      {"tx_selective_ack_offers", c.selective_ack_offers_sent},  // urnic's own
      {"tx_selective_acks", c.selective_acks_sent},              // urnic's own
  };
}

std::vector<LinkCounterValue> link_counter_values(const link::LinkCounters& counters) {
  using link::DropCause;
  return {
      {"answered", counters.answered},
      {"buffer_full", counters.drops(DropCause::buffer_full)},
      {"burst_lost", counters.drops(DropCause::burst)},
      {"corrupted", counters.by_link.corrupted},
      {"cut_dropped", counters.drops(DropCause::cut)},
      {"delayed", counters.by_link.delayed},
      {"duplicated", counters.by_link.duplicated},
      {"ecn_marked", counters.by_link.congestion_marked},
      {"ecn_not_capable", counters.not_ecn_capable},
      {"fault_corrupted", counters.by_fault.corrupted},
      {"fault_delayed", counters.by_fault.delayed},
      {"fault_dropped", counters.drops(DropCause::fault)},
      {"fault_duplicated", counters.by_fault.duplicated},
      {"fault_ecn_marked", counters.by_fault.congestion_marked},
      {"fault_reordered", counters.by_fault.reordered},
      {"lost", counters.drops(DropCause::loss)},
      {"packets", counters.packets},
      {"pauses_caused", counters.pauses_caused},
      {"prio3_pause", counters.pauses},
      {"prio3_pause_duration", static_cast<std::uint64_t>(counters.paused.count()) / 1000},
      {"queue_full", counters.drops(DropCause::queue_full)},
      {"reordered", counters.by_link.reordered},
      {"shared_buffer_full", counters.drops(DropCause::shared_buffer_full)},
  };
}

std::vector<UdpCounterValue> udp_counter_values(const link::UdpCounters& counters) {
  return {
      {"ecn_marked", counters.marked},         {"kernel_drops", counters.kernel_drops},
      {"malformed", counters.malformed},       {"no_buffer", counters.no_buffer},
      {"not_sendable", counters.not_sendable}, {"receive_calls", counters.receive_calls},
      {"received", counters.received},         {"refused", counters.refused},
      {"send_calls", counters.send_calls},     {"sent", counters.sent},
      {"too_long", counters.too_long},         {"unreachable", counters.unreachable},
  };
}

std::vector<std::pair<std::string, std::uint64_t>> link_values(Fabric& fabric, const ServedDevice& device) {
  std::vector<std::pair<std::string, std::uint64_t>> values;
  for (const auto direction : {link::Direction::transmit, link::Direction::receive}) {
    link::LinkCounters counters;
    fabric.engine(device).execute([&] {
      const link::Link* link = fabric.switch_of(device).existing_link(device.index);
      if (link != nullptr) counters = link->channel(direction).counters();
    });
    for (const LinkCounterValue& counter : link_counter_values(counters)) {
      values.emplace_back("link_" + std::string(link::name(direction)) + '_' + std::string(counter.name),
                          counter.value);
    }
  }
  if (device.udp != nullptr) {
    link::UdpCounters udp;
    fabric.engine(device).execute([&] { udp = device.udp->port.counters(); });
    for (const UdpCounterValue& counter : udp_counter_values(udp))
      values.emplace_back("udp_" + std::string(counter.name), counter.value);
  }
  if (device.host_interface != nullptr) {
    link::HostInterfaceCounters host;
    fabric.engine(device).execute([&] { host = device.host_interface->counters(); });
    values.emplace_back("host_does_not_read", host.host_does_not_read);
    values.emplace_back("host_impossible", host.impossible);
    values.emplace_back("host_received", host.received_frames);
    values.emplace_back("host_refused_sources", host.refused_sources);
    values.emplace_back("host_sent", host.sent_frames);
  }
  return values;
}

}  // namespace urnic::control
