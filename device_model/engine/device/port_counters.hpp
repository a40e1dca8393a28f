// The counters of a device's port; docs/counters.md defines each.
#pragma once

#include <cstdint>

namespace urnic::engine {

struct PortCounters {
  std::uint64_t transmitted_packets = 0;    // port_xmit_packets
  std::uint64_t transmitted_multicast = 0;  // multicast_xmit_packets: those of them to a group address
  std::uint64_t transmitted_bytes = 0;      // port_xmit_data is this / 4
  std::uint64_t received_packets = 0;
  std::uint64_t received_multicast = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t receive_errors = 0;  // port_rcv_errors: RoCE packets that do not parse, by ICRC or otherwise
  std::uint64_t icrc_errors = 0;     // rx_icrc_encapsulated
  std::uint64_t not_roce = 0;        // rx_not_roce: frames of other kinds that no steering rule takes
  std::uint64_t wrong_address = 0;  // rx_wrong_address: MAC, GID or VLAN not the device's, or the QP's path's
  std::uint64_t wrong_origin = 0;   // rx_wrong_origin: for a connected QP, and not sent by its peer
  std::uint64_t unknown_qp = 0;     // rx_unknown_qp
  std::uint64_t link_downed = 0;    // link_downed: how often the link was cut
  std::uint64_t buffer_overruns = 0;  // excessive_buffer_overrun_errors: no room for a payload
};

}  // namespace urnic::engine
