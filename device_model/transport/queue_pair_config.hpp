// What a queue pair is created with, and what modify_qp sets of it.
#pragma once

#include <cstdint>
#include <limits>

#include "device_model/transport/counters.hpp"
#include "device_model/transport/host.hpp"
#include "device_model/transport/memory_access.hpp"
#include "device_model/transport/recovery_settings.hpp"
#include "device_model/transport/work_request.hpp"
#include "wire/identifiers.hpp"
#include "wire/opcode.hpp"
#include "wire/psn.hpp"

namespace urnic::transport {

class ReorderPool;
class TaggedReceives;

// The values are those of ibv_qp_state.
enum class QpState : std::uint8_t { reset = 0, init = 1, rtr = 2, rts = 3, sqd = 4, sqe = 5, error = 6 };

// The transport service of a QP (IBTA 9.6): reliable connection, unreliable connection, unreliable datagram;
// the two ends of an extended reliable connection (annex A14), of which the initiator only sends requests and
// the target only takes them; or none, where the program makes whole frames itself.
enum class QpService : std::uint8_t { rc, uc, ud, xrc_initiator, xrc_target, raw_packet };

constexpr bool is_xrc(QpService service) {
  return service == QpService::xrc_initiator || service == QpService::xrc_target;
}

// No acknowledgement tells of a send's arrival.
constexpr bool is_unreliable(QpService service) {
  return service == QpService::uc || service == QpService::ud || service == QpService::raw_packet;
}

// Whether a QP in this state takes requests, and sends what it owes for them (IBTA 10.3.1).
inline bool takes_requests(QpState state) {
  return state == QpState::rtr || state == QpState::rts || state == QpState::sqd || state == QpState::sqe;
}

// Rights that remote requests have on this QP, beside those of the memory (IBTA 10.2.4.3); ibv_access_flags.
struct QpAccess {
  bool remote_read = false;
  bool remote_write = false;
  bool remote_atomic = false;
};

// What modify_qp sets, in the transport's own types. Valid members depend on the state (IBTA 11.2.5.2).
struct QpParameters {
  QpAccess access;
  std::uint16_t pkey_index = 0;  // the place of `pkey` in the port's table
  wire::Pkey pkey;
  std::uint32_t path_mtu = 1024;  // bytes
  wire::Qpn destination;
  wire::Psn receive_psn;                   // first expected (rq_psn)
  wire::Psn send_psn;                      // first sent (sq_psn)
  std::uint8_t max_destination_reads = 0;  // max_dest_rd_atomic: reads and atomics that the responder holds
  std::uint8_t max_reads = 0;      // max_rd_atomic: reads and atomics that the requester has under way
  std::uint8_t min_rnr_timer = 0;  // code sent in RNR NAKs
  std::uint8_t timeout = 0;        // local ACK timeout code: 4.096 us * 2^timeout; 0: never (IBTA 9.7.6.1.3)
  std::uint8_t retry_count = 0;
  std::uint8_t rnr_retry = 0;  // 7: for ever
  std::uint32_t qkey = 0;      // datagrams
};

// What a QP is created with. Everything that is referred to outlives the QP.
struct QpConfig {
  wire::Qpn qpn;
  PdId pd;
  std::uint32_t send_slots = 0;  // most send requests taken and not retired
  std::uint32_t receive_slots = 0;
  std::uint32_t max_message_size = 1u << 31;
  // How far packets may leave ahead of the first that is not acknowledged, and how far ahead the peer's are
  // held (receive_window.hpp).
  std::uint32_t window_packets = 1024;
  // Most packets that the network to the peer takes, if that is less: sent and not known to have arrived.
  std::uint32_t congestion_window_packets = std::numeric_limits<std::uint32_t>::max();
  std::uint8_t responder_resources = 16;  // most that max_destination_reads may be
  Host* host = nullptr;
  MemoryKeys* keys = nullptr;
  const AddressHandles* addresses = nullptr;  // datagrams
  SendQueue* send_queue = nullptr;
  ReceiveQueue* receive_queue = nullptr;
  // The service of the opcodes that a reliable QP sends and takes: rc, or xrc.
  wire::Service packets = wire::Service::rc;
  // The same as `receive_queue` at the target of an extended reliable connection; else null.
  XrcReceiveQueues* xrc_receives = nullptr;
  // Other QPs take WQEs from the receive queue too: no credits are given (IBTA 9.7.7.2), and an error flushes
  // only WQEs that this QP has taken, then raises last_wqe_reached (IBTA 10.3.1).
  bool shared_receive_queue = false;
  TaggedReceives* tagged_receives = nullptr;  // on a tag-matching SRQ: the same as `receive_queue`
  Counters* counters = nullptr;
  RecoverySettings recovery = {.mode = RecoveryMode::gbn};  // see also set_recovery
  // Holds packets that arrive out of order; null: they are dropped, as under gbn.
  ReorderPool* reorder_pool = nullptr;
};

}  // namespace urnic::transport
