// A reliable-connection queue pair: its requester, its responder, and the state that both share.
//
// Single-threaded and without I/O: whoever owns it hands in packets, time and doorbells, and gets actions
// through its Host (host.hpp). The same object runs in the device process and in tests under virtual time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "device_model/transport/counters.hpp"
#include "device_model/transport/host.hpp"
#include "device_model/transport/memory_access.hpp"
#include "device_model/transport/recovery_settings.hpp"
#include "device_model/transport/time.hpp"
#include "device_model/transport/work_request.hpp"
#include "wire/identifiers.hpp"
#include "wire/psn.hpp"

namespace urnic::transport {

class HeldPacketPool;

// The values are those of ibv_qp_state.
enum class QpState : std::uint8_t { reset = 0, init = 1, rtr = 2, rts = 3, sqd = 4, sqe = 5, error = 6 };

// Rights that remote requests have on this QP, beside those of the memory (IBTA 10.2.4.3); ibv_access_flags.
struct QpAccess {
  bool remote_read = false;
  bool remote_write = false;
  bool remote_atomic = false;
};

// What modify_qp sets, in the transport's own types. Valid members depend on the state (IBTA 11.2.5.2).
struct QpParameters {
  QpAccess access;
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
};

// What a QP is created with. Everything that is referred to outlives the QP.
struct QpConfig {
  wire::Qpn qpn;
  PdId pd;
  std::uint32_t send_slots = 0;  // most send requests taken and not retired
  std::uint32_t receive_slots = 0;
  std::uint32_t max_message_size = 1u << 31;
  std::uint32_t window_packets = 1024;    // most packets sent and not acknowledged
  std::uint8_t responder_resources = 16;  // most that max_destination_reads may be
  Host* host = nullptr;
  MemoryKeys* keys = nullptr;
  SendQueue* send_queue = nullptr;
  ReceiveQueue* receive_queue = nullptr;
  Counters* counters = nullptr;
  RecoverySettings recovery = {.mode = RecoveryMode::go_back_n};  // see also set_recovery
  // Where the responder keeps what arrives out of order; null: it keeps nothing, as under go_back_n.
  HeldPacketPool* held_packets = nullptr;
};

class QueuePair {
 public:
  // Allocates all that the QP will ever need.
  explicit QueuePair(const QpConfig& config);
  ~QueuePair();
  QueuePair(const QueuePair&) = delete;
  QueuePair& operator=(const QueuePair&) = delete;

  QpState state() const;
  const QpParameters& parameters() const;
  wire::Qpn qpn() const;

  // Moves to `state` with `parameters`, which hold all that is now in force. The caller has checked that the
  // transition and its attributes are allowed (qp_transitions.hpp). To error: flushes both queues. To reset:
  // all is forgotten without completions, indices start at 0. To sqd: finishes what is under way, then raises
  // send_queue_drained if `notify_drained`.
  void modify(QpState state, const QpParameters& parameters, Time now, bool notify_drained = false);

  // True in sqd once all send requests taken are complete (sq_draining is its opposite).
  bool drained() const;

  // Recovers as `settings` say from now on; what is under way is finished the old way. Allocates.
  void set_recovery(const RecoverySettings& settings);

  // Send WQEs may have been posted.
  void doorbell(Time now);

  // A packet whose destination is this QP arrived. Packets that the QP's state, P_Key or service do not let
  // in are dropped silently (IBTA 9.6, 9.9.2).
  void receive(const InboundPacket& packet, Time now);

  // Sends what may be sent: responses that are owed first (acknowledgements are coalesced until now), then
  // requests. Emits at most `packets` packets; returns how many it emitted. Call while `wants_pump()`.
  std::uint32_t pump(Time now, std::uint32_t packets);
  bool wants_pump() const;
  // The responder is about to tell its peer of a hole in what has arrived. The sooner it does, the less is
  // sent that must be held behind the hole: `pump_responses` sends that, and no requests.
  bool tells_of_hole() const;
  std::uint32_t pump_responses(Time now, std::uint32_t packets);
  // The peer waits for what will be sent next: an acknowledgement, or what is sent again because it was lost.
  // Where a QP's turn comes late, `pump_urgent` sends that ahead of it, at most `packets`.
  bool is_urgent() const;
  std::uint32_t pump_urgent(Time now, std::uint32_t packets);

  // When `on_timer` wants to be called next; empty if nothing is awaited. Ask after every call that takes
  // `now`.
  std::optional<Time> deadline() const;
  void on_timer(Time now);

  // A memory access failed (host.hpp). Becomes the error completion or the NAK that it should be.
  void memory_failed(const AccessTag& tag, Time now);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace urnic::transport
