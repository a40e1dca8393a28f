// A reliable-connection queue pair: its requester, its responder, and the state that both share.
//
// Single-threaded and without I/O: its owner hands in packets, time and doorbells, and gets actions
// through its Host (host.hpp). The same object runs in the device process and in tests under virtual time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "device_model/transport/congestion/response_control.hpp"
#include "device_model/transport/host.hpp"
#include "device_model/transport/queue_pair_config.hpp"
#include "device_model/transport/queue_pair_detail.hpp"
#include "device_model/transport/requester/requester.hpp"
#include "device_model/transport/responder/responder.hpp"
#include "device_model/transport/shared_state.hpp"
#include "device_model/transport/time.hpp"

namespace urnic::transport {

class QueuePair {
 public:
  // Allocates all that the QP will ever need.
  explicit QueuePair(const QpConfig& config);
  QueuePair(const QueuePair&) = delete;
  QueuePair& operator=(const QueuePair&) = delete;

  QpState state() const { return shared_.state; }
  const QpParameters& parameters() const { return shared_.parameters; }
  wire::Qpn qpn() const { return shared_.config.qpn; }

  // Moves to `state` with `parameters`, which hold all that is now in force. The caller has checked that the
  // transition and its attributes are allowed (qp_transitions.hpp). To error: flushes both queues. To reset:
  // all is forgotten without completions, indices start at 0. To sqd: finishes what is under way, then raises
  // send_queue_drained if `notify_drained`.
  void modify(QpState state, const QpParameters& parameters, Time now, bool notify_drained = false);

  // The port's P_Key table has changed at the queue pair's index; from the next packet on, in and out.
  void set_pkey(wire::Pkey pkey) { shared_.parameters.pkey = pkey; }

  // True in sqd once all send requests taken are complete (sq_draining is its opposite).
  bool drained() const;

  // Recovers as `settings` say: the responder from now on, the requester once all its packets under way are
  // acknowledged. Allocates.
  void set_recovery(const RecoverySettings& settings);

  // Controls congestion as `settings` say, from now on (congestion/). Allocates.
  void set_congestion(const CongestionSettings& settings, Time now);
  // Null: there is none.
  const SenderControl* congestion() const { return requester_.control(); }

  // Prefetches memory outside this object that the next send request needs.
  void prefetch_next_request() const { requester_.prefetch_next_request(); }

  // Send WQEs may have been posted.
  void doorbell();

  // A packet whose destination is this QP arrived. Packets that the QP's state, P_Key or service do not let
  // in are dropped silently (IBTA 9.6, 9.9.2).
  void receive(const InboundPacket& packet, Time now);

  // Sends what may be sent: responses that are owed first (acknowledgements are coalesced until now), then
  // requests. Emits at most `packets` packets; returns how many it emitted. Call while `wants_pump()`.
  std::uint32_t pump(Time now, std::uint32_t packets);
  bool wants_pump() const;

  // How fast requests leave. While their pace lets none leave, `pump` sends only responses, and nothing
  // unless it `owes_responses`.
  SendPace& pace() { return requester_.pace(); }
  // While it `is_held_back`, `pump` sends nothing, although it `wants_pump`: all that is to be sent must wait
  // for its pace, until `free_at` at least.
  bool is_held_back(Time now) const {
    const bool is_free = requester_.pace().may_send(now);
    if (is_free && response_control_ == nullptr) [[likely]]
      return false;
    if (owes_responses(now)) return false;
    return requester_.wants_pump() ? !is_free : takes_requests(shared_.state) && holds_responses_back(now);
  }
  Time free_at() const;
  // Responses that may leave now.
  bool owes_responses(Time now) const {
    if (!takes_requests(shared_.state)) return false;
    if (shared_.offers.owed() || shared_.notifications.owed()) return true;
    return responder_.wants_pump() && !holds_responses_back(now);
  }

  // The responder is about to tell its peer of a hole. The sooner it does, the fewer packets must be held
  // behind the hole: `pump_responses` sends responses alone.
  bool tells_of_hole() const;
  std::uint32_t pump_responses(std::uint32_t packets);
  // The peer waits for the next packet: an acknowledgement, or the repeat of a lost packet. If the QP's turn
  // comes late, `pump_urgent` sends at most `packets` of these ahead of its turn.
  bool is_urgent() const;
  std::uint32_t pump_urgent(Time now, std::uint32_t packets);

  // What it is doing now. Takes time in proportion to the packets in flight.
  QueuePairSnapshot snapshot() const;
  // The same packet by packet. Allocates.
  QueuePairDetail detail() const;

  // Goes out of band with the packets that it sends (selective_acks.hpp).
  SelectiveAcks selective_acks(bool in_request) const {
    const bool yes = in_request ? requester_.reads_selective_acks() : responder_.gives_selective_acks();
    return yes ? SelectiveAcks::yes : SelectiveAcks::no;
  }

  // When `on_timer` wants to be called next; empty if nothing is awaited. Ask after every call that takes
  // `now`.
  std::optional<Time> deadline() const;
  void on_timer(Time now);

  // A memory access failed (host.hpp). Becomes the error completion or the NAK that it should be.
  void memory_failed(const AccessTag& tag);

  // XRC target: the SRQ from which the receive under way was taken is gone. The rest of the message is
  // refused.
  void receive_lost() { responder_.receive_lost(); }

 private:
  bool is_in_partition(const wire::Bth& bth) const;
  bool lets_in(const wire::Bth& bth, bool request) const;
  // From outside, with another UDP source port than the peer's (peer_port.hpp).
  bool has_other_port(const InboundPacket& packet) const {
    return packet.is_from_outside() && !shared_.peer_port.is(packet.source_port);
  }
  [[gnu::cold]] void drop_for_port();
  // Offers of selective acks, to and from a peer outside of this process.
  [[gnu::cold]] void take_offer(const InboundPacket& packet);
  [[gnu::cold]] void send_offer();
  // Congestion notifications, from and to the peer.
  [[gnu::cold]] void take_notification(const wire::Bth& bth, Time now);
  [[gnu::cold]] void take_mark(const wire::OpcodeTraits& traits, Time now);
  [[gnu::cold]] void send_notification();
  std::uint32_t room_for_responses(Time now, std::uint32_t packets);
  bool holds_responses_back(Time now) const {
    return response_control_ != nullptr && responder_.next_is_data() && !response_control_->may_send(now);
  }
  std::uint32_t pump_responder(Time now, std::uint32_t packets);
  // After each call into a half: enters the error state, or raises send_queue_drained.
  void settle();
  void enter_error();

  SharedState shared_;
  bool established_ = false;     // a request has arrived since the QP entered RTR
  bool notify_drained_ = false;  // send_queue_drained is still to be raised
  bool requests_turn_ = false;   // the odd packet of the room goes to requests
  Requester requester_;
  Responder responder_;
  std::unique_ptr<ResponseControl> response_control_;  // null: responses leave as they come
};

}  // namespace urnic::transport
