// The packets from one address to one queue pair at another address: half a connection.
#pragma once

#include <cstdint>

#include "analysis/dissection/port_address.hpp"
#include "analysis/flows/packet.hpp"
#include "analysis/flows/time_series.hpp"
#include "wire/identifiers.hpp"
#include "wire/opcode.hpp"

namespace urnic::analysis {

// How it is known which two flows are one connection: packets carry their destination QP only.
enum class Pairing : std::uint8_t {
  unknown,
  by_traffic,  // the only flow whose packets the answers fit
  by_cm,       // REQ and REP of the connection manager name both QPs
  by_header,   // datagrams name their source QP
};

struct FlowCounters {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;    // of frames
  std::uint64_t payload = 0;  // bytes, retransmissions included
  std::uint64_t goodput = 0;  // bytes that arrived for the first time, as far as answers tell
  std::uint64_t messages = 0;
  std::uint64_t retransmissions = 0;
  std::uint64_t copies = 0;
  std::uint64_t lost = 0;
  std::uint64_t late = 0;
  std::uint64_t missing = 0;  // PSNs that no packet in the capture has
  std::uint64_t sequence_naks = 0;
  std::uint64_t rnr_naks = 0;
  std::uint64_t error_naks = 0;
  std::uint64_t selective_acks = 0;
  std::uint64_t notifications = 0;
  std::uint64_t congestion_marks = 0;
};

struct Flow {
  PortAddress source;
  PortAddress destination;
  wire::Qpn destination_qp;
  wire::Service service = wire::Service::rc;
  FlowIndex opposite = kNoFlow;
  Pairing pairing = Pairing::unknown;
  wire::Qpn source_qp;         // known unless pairing is unknown
  std::uint32_t path_mtu = 0;  // as far as packets have shown; 0: unknown
  std::int64_t first = 0;      // time of the first and last packet
  std::int64_t last = 0;
  FlowCounters counters;
  TimeSeries series;
};

}  // namespace urnic::analysis
