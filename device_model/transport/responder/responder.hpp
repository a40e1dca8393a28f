// The responder of an RC queue pair (IBTA 9.7.4, 9.7.5, 9.7.7): checks the PSN and the rights of each
// request, places its data or reads what it asks for, completes receives, and acknowledges.
//
// Requests are executed as they arrive; every response leaves in `pump`, in the order of the requests. Where
// the QP's recovery holds requests that arrive out of order, they are checked and executed when their turn
// comes: only the peer can tell the difference (out_of_order_requests.cpp).
#pragma once

#include <cstdint>
#include <optional>

#include "device_model/transport/host.hpp"
#include "device_model/transport/queue_pair_detail.hpp"
#include "device_model/transport/queue_pair_snapshot.hpp"
#include "device_model/transport/receive_placement.hpp"
#include "device_model/transport/request_check.hpp"
#include "device_model/transport/responder/arrival_reports.hpp"
#include "device_model/transport/responder/owed_acknowledge.hpp"
#include "device_model/transport/responder/receive_window.hpp"
#include "device_model/transport/responder/responder_resources.hpp"
#include "device_model/transport/responder/response_queue.hpp"
#include "device_model/transport/shared_state.hpp"
#include "device_model/transport/time.hpp"

namespace urnic::transport {

class Responder {
 public:
  explicit Responder(SharedState& shared);
  Responder(const Responder&) = delete;
  Responder& operator=(const Responder&) = delete;

  // Forgets everything (QP to reset).
  void reset();
  // First expected PSN is parameters.receive_psn (QP enters RTR).
  void start();
  // parameters changed while running.
  void parameters_changed();

  // A request packet.
  void receive(const InboundPacket& packet);
  // Whether to `receive` a request from outside with another UDP source port than the peer's (peer_port.hpp).
  bool takes_from_other_port(const InboundPacket& packet);
  // Sends owed responses: read responses, atomic acknowledgements, one coalesced ACK.
  std::uint32_t pump(std::uint32_t packets);
  // The next packet is one that the peer waits for: an acknowledgement, a report, or the repeat of a lost
  // response. `pump_urgent` sends at most `packets` of these, until another response comes first.
  bool is_urgent() const {
    return responses_.empty() ? owed_.owed() || !reports_.empty() : responses_.front().is_repeat;
  }
  std::uint32_t pump_urgent(std::uint32_t packets);
  // The next packet to send tells the requester of a hole.
  bool tells_of_hole() const {
    return responses_.empty() && (!reports_.empty() || owed_.kind() == OwedAcknowledge::Kind::sequence_nak);
  }
  bool wants_pump() const { return !responses_.empty() || owed_.owed() || !reports_.empty(); }
  // The next packet is a response to a READ, sent for the first time.
  bool next_is_data() const {
    return !responses_.empty() && !responses_.front().is_repeat &&
           responses_.front().atomic_original == nullptr;
  }
  void memory_failed(const AccessTag& tag);
  // The queue that the receive under way was taken from is gone: the rest of the message is refused.
  void receive_lost() { receives_.lose(); }

  // Completes everything taken and everything posted with `flushed` (QP in error).
  void flush();

  ResponderSnapshot snapshot() const;
  ResponderDetail detail() const;
  // The peer reads selective acks, and this side holds packets that arrive out of order.
  bool gives_selective_acks() const { return peer_reads_ && keeps(); }
  // What it would do for a peer that reads them.
  bool would_give_selective_acks() const { return keeps(); }
  // A peer outside of this process has said whether it reads them.
  void peer_offers(bool reads);
  wire::Psn expected_psn() const { return window_.expected(); }

 private:
  // Why a request is refused for good (IBTA 9.9.3): the NAK for the peer, and the completion of the request's
  // receive or else the event for the application.
  struct Refusal {
    wire::NakCode nak;
    WorkStatus receive_status = WorkStatus::success;  // success: no receive is completed for it
    std::optional<AsyncEvent> event = {};
  };

  // responder.cpp
  void count_message() { msn_ = msn_.next(); }
  // The request's protection domain is known: it is that of the QP, or else of the SRQ that an XRC request
  // names.
  bool in_domain(const InboundPacket& packet) {
    return shared_.config.xrc_receives == nullptr || select_domain(packet);
  }
  bool select_domain(const InboundPacket& packet);
  void execute(const InboundPacket& packet, RequestKind kind);
  void executed(const wire::Bth& bth, const wire::OpcodeTraits& traits, MessageUnderWay message);
  void receiver_not_ready();
  void refuse(const Refusal& refusal, wire::Psn psn);
  void stop();

  // out_of_order_requests.cpp
  void out_of_sequence(const InboundPacket& packet, RequestKind kind);
  bool hold(const InboundPacket& packet, RequestKind kind);
  void ask_for_expected();
  void in_sequence(const InboundPacket& packet, RequestKind kind);
  bool execute_held();
  void after_hole();
  void held_again(wire::Psn psn);

  // packets_from_outside.cpp
  bool may_be_held(const InboundPacket& packet, RequestKind kind) const;
  bool fits_neighbours(wire::Psn psn, wire::Operation operation) const;
  bool names_memory(const InboundPacket& packet, RequestKind kind, bool domain_is_known) const;
  bool fits_its_turn(const InboundPacket& packet, RequestKind kind);
  void execute_from_outside(const InboundPacket& packet, RequestKind kind);
  bool came_before(const InboundPacket& packet);
  bool contradicts_held(const InboundPacket& packet);
  bool forgets_held(const Refusal& refusal);
  void ask_for_forgotten();

  // The mode may change while the QP runs.
  bool keeps() const {
    return keeps_out_of_order(shared_.recovery.mode) && shared_.config.reorder_pool != nullptr;
  }

  // refusals.cpp
  Refusal length_error() const;
  Refusal access_error() const;
  Refusal opcode_violation() const;
  Refusal domain_violation() const;
  Refusal reported(wire::NakCode nak, WorkStatus receive_status, AsyncEvent event) const;

  // send_write_requests.cpp; as all of these, empty: executed
  std::optional<Refusal> execute_send(const InboundPacket& packet);
  // Places `data`, all or a part of the packet's payload, in the receive under way.
  std::optional<Refusal> place_send(const InboundPacket& packet, std::span<const std::byte> data);
  std::optional<Refusal> finish_send(const InboundPacket& packet);
  std::optional<Refusal> execute_write(const InboundPacket& packet);
  std::optional<Refusal> place_write(const InboundPacket& packet);

  // tag_matched_sends.cpp
  std::optional<Refusal> execute_tagged_send(const InboundPacket& packet);

  // read_atomic_requests.cpp
  std::optional<Refusal> execute_read(const InboundPacket& packet);
  std::optional<Refusal> execute_atomic(const InboundPacket& packet);
  std::optional<Refusal> execute_atomic_write(const InboundPacket& packet);
  bool has_free_resource() const;
  void answered(const ResponderResource& resource);

  // duplicate_requests.cpp
  void repeat(const InboundPacket& packet, RequestKind kind);
  void repeat_read(const InboundPacket& packet);
  void repeat_atomic(const InboundPacket& packet);
  void repeat_atomic_write(const InboundPacket& packet);

  // responses.cpp
  void send_pending();
  void send_read_response(PendingResponse& response);
  bool ack_passes_repeats() const;
  std::uint32_t send_acknowledges(std::uint32_t packets);
  void send_owed();
  void send_report(const wire::SelectiveAckEth& report);
  wire::TransportHeaders response_headers(wire::Operation operation, wire::Psn psn,
                                          std::uint8_t syndrome) const;
  std::uint8_t ack_syndrome() const;
  AccessTag tag(wire::Psn psn) const;

  SharedState& shared_;
  OwedAcknowledge owed_;
  bool peer_reads_ = false;  // selective acks, by its latest request

  wire::Msn msn_;
  MessageUnderWay message_ = MessageUnderWay::none;
  // A NAK for the expected PSN is owed or sent, and no other one is until that PSN is back.
  bool awaiting_expected_ = false;
  // A packet behind the expected PSN was dropped since the last NAK: the peer must be told of the next hole.
  bool dropped_behind_ = false;
  // No further request is executed; the QP fails once the owed responses are sent.
  bool stopped_ = false;
  bool executes_held_from_outside_ = false;
  bool forgot_held_ = false;  // the packet executed last counts as lost
  // The expected packet, as it came from another port than the peer's.
  struct Unconfirmed {
    wire::TransportHeaders headers;
    std::uint64_t payload_hash;
  };
  std::optional<Unconfirmed> unconfirmed_;
  PdId pd_;  // in which requests are executed

  // The RDMA WRITE under way.
  std::uint64_t write_address_ = 0;
  std::uint32_t write_remaining_ = 0;
  std::uint32_t write_length_ = 0;
  wire::Rkey write_rkey_;

  ReceiveWindow window_;
  ResponseQueue responses_;
  ReceivePlacement receives_;
  ResponderResources resources_;
  ArrivalReports reports_;
};

}  // namespace urnic::transport
