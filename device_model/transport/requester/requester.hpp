// The requester of an RC queue pair (IBTA 9.7.2 to 9.7.3, 9.7.5, 9.7.6): turns send requests into request
// packets, takes responses, completes requests in order, and recovers from loss.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "device_model/transport/congestion/sender_control.hpp"
#include "device_model/transport/host.hpp"
#include "device_model/transport/queue_pair_detail.hpp"
#include "device_model/transport/queue_pair_snapshot.hpp"
#include "device_model/transport/recovery/scoreboard_recovery.hpp"
#include "device_model/transport/requester/ack_timer.hpp"
#include "device_model/transport/requester/flow_control.hpp"
#include "device_model/transport/requester/reads_under_way.hpp"
#include "device_model/transport/requester/retry_counters.hpp"
#include "device_model/transport/requester/rnr_wait.hpp"
#include "device_model/transport/requester/selective_ack_agreement.hpp"
#include "device_model/transport/requester/send_window.hpp"
#include "device_model/transport/segmentation.hpp"
#include "device_model/transport/send_pace.hpp"
#include "device_model/transport/shared_state.hpp"
#include "device_model/transport/time.hpp"
#include "wire/psn.hpp"

namespace urnic::transport {

// Unacknowledged packets span at most half the PSN space: the responder could not tell new ones from
// duplicates otherwise (IBTA 9.7.1).
inline constexpr std::uint32_t kMaxOutstandingPsns = 1u << 23;

// Most copies of a packet that are sent at once after retries without an answer.
inline constexpr std::uint32_t kMostCopies = 16;

class Requester {
 public:
  explicit Requester(SharedState& shared);
  Requester(const Requester&) = delete;
  Requester& operator=(const Requester&) = delete;

  // Forgets everything but what is known of the peer.
  void reset();
  // Another peer comes (QP to reset).
  void forget_peer() { selective_acks_.forget_peer(); }
  // First PSN is parameters.send_psn (QP enters RTS from RTR).
  void start(Time now);
  // parameters changed while running (QP stays in or returns to RTS).
  void parameters_changed(Time now);

  // Recovers as `settings` say once everything under way is acknowledged. Allocates.
  void use(const RecoverySettings& settings);

  // Controls congestion as `settings` say, from now on. Allocates.
  void use(const CongestionSettings& settings, Time now);
  // Null: there is none.
  const SenderControl* control() const { return control_.get(); }
  // The peer has sent a congestion notification. False: nobody reacts to it here.
  bool notified(Time now);

  // As QueuePair::prefetch_next_request.
  void prefetch_next_request() const {
    window_.prefetch_next();
    recovery_->prefetch();
  }

  // A response packet: ACK, NAK, RNR NAK, read response, atomic acknowledge.
  void receive(const InboundPacket& packet, Time now);
  // Whether to `receive` a response from outside with another UDP source port than the peer's
  // (peer_port.hpp).
  bool takes_from_other_port(const InboundPacket& packet);
  std::uint32_t pump(Time now, std::uint32_t packets);
  bool wants_pump() const;
  // Lost packets wait to be sent again. `pump_again` sends at most `packets` of them, and nothing new.
  bool must_send_again() const;
  std::uint32_t pump_again(Time now, std::uint32_t packets);
  // How fast request packets leave, those that are sent again too. While it lets none leave, `pump` sends
  // none, although `wants_pump`.
  SendPace& pace() { return pace_; }
  const SendPace& pace() const { return pace_; }
  std::optional<Time> deadline() const;
  void on_timer(Time now);
  void memory_failed(const AccessTag& tag);

  // Completes everything taken and everything posted with `flushed` (QP in error).
  void flush();
  bool reads_selective_acks() const { return selective_acks_.reads(); }
  // What it would do with them if the peer gave them.
  bool would_read_selective_acks() const { return selective_acks_.recovery_reads(); }
  // A peer outside of this process has said whether it gives them.
  void peer_offers(bool gives);
  RequesterSnapshot snapshot() const;
  RequesterDetail detail() const;
  // No send request taken is incomplete (for sqd).
  bool idle() const { return window_.none_incomplete(); }

 private:
  // requester.cpp
  void take_next_recovery();

  // request_congestion.cpp
  bool control_has_room() const {
    return control_ == nullptr || control_->has_room(arrived_ahead()) || !response_expected();
  }
  std::uint32_t arrived_ahead() const { return selective_ != nullptr ? selective_->arrived_ahead() : 0; }
  [[gnu::noinline]] void pace_departure(const OutboundPacket& packet, PacketRange packets, Time now);
  // These two only if there is a control. What it was told counts from `obey_control` on.
  void begin_anew(Time now);
  void obey_control(Time now) { pace_.allow(control_->rate(now)); }

  // requester_detail.cpp
  std::vector<PsnSpan> packets_in_detail() const;
  std::vector<RunningTimer> timers_in_detail() const;

  // request_sending.cpp: chooses the next packet and sends it.
  bool take_request();
  WorkStatus check_request(const SendRequest& request) const;
  bool may_take() const;
  bool may_send_new(const SendSlot& slot) const;
  bool may_send_new() const;
  bool nothing_new_for_suspects() const { return selective_->has_suspects() && !may_send_new(); }
  bool may_execute_local(const SendSlot& slot) const;
  bool has_room_for(const SendSlot& slot) const;
  bool send_new(Time now);
  // Sends `first` again, or the part of a READ from `first` on. Returns the number of packets sent.
  std::uint32_t send_again(PacketNumber first, Time now);
  std::optional<PacketRange> part_to_repeat(const SendSlot& slot, PacketNumber first, Time now);
  std::optional<PacketRange> next_in_order(const SendSlot& slot, PacketNumber first, Time now);
  // Nothing else can be sent, but a guess.
  bool may_guess() const {
    return selective_ != nullptr && selective_->guess() && running() && in_flight() != 0 &&
           !rnr_wait_.is_on() && !may_send_new();
  }
  std::uint32_t send_guess(Time now);
  std::uint32_t copies_of(const SendSlot& slot, PacketNumber packet) const;
  // Sends the packet at place `at` of a request. Returns the PSNs that it takes; 0 if its memory is not
  // allowed.
  std::uint32_t emit_packet(std::uint32_t index, std::uint32_t at, std::uint32_t wanted, Time now,
                            bool is_guess = false);
  bool wants_ack(const SendSlot& slot, std::uint32_t at) const;
  bool fills_last_hole(PacketNumber number) const;
  void execute_local(SendSlot& slot);

  // response_handling.cpp: takes responses.
  void take_response(PacketNumber number, const InboundPacket& packet, Time now);
  void on_stale_response(const InboundPacket& packet, Time now);
  void on_acknowledge(PacketNumber number, const wire::TransportHeaders& headers, Time now);
  void on_nak(PacketNumber number, const wire::TransportHeaders& headers, Time now);
  bool on_sequence_nak(PacketNumber number, const wire::TransportHeaders& headers, Time now);
  void refused(PacketNumber number, WorkStatus status);
  void on_rnr_nak(PacketNumber number, std::uint8_t code, Time now);
  void on_read_response(PacketNumber number, const InboundPacket& packet, Time now);
  void on_atomic_acknowledge(PacketNumber number, const InboundPacket& packet, Time now);
  bool read_response_fits(const SendSlot& slot, std::uint32_t at, const InboundPacket& packet) const;
  bool scatter(std::uint32_t index, std::uint64_t offset, std::span<const std::byte> data, bool message_end,
               PacketNumber number);
  void answered(PacketNumber number, Time now);
  void repeat_what_was_put_off(const SendSlot& slot, PacketNumber number);
  void bad_response();

  // selective_acknowledgement.cpp: takes selective acks.
  bool is_agreed(const wire::TransportHeaders& selective_acknowledge) const;
  void take_selective_ack(const wire::SelectiveAckEth& header, Time now);
  void take_early_arrivals(PacketRange run, Time now);
  bool take_early_read(SendSlot& slot);

  // retransmission.cpp: progress, NAKs and timeouts.
  bool acknowledge_until(PacketNumber until, Time now);
  PacketNumber done_from(PacketNumber reached) const;
  void note_executed(PacketNumber until, Time now);
  void progress_to(PacketNumber until, LossRecovery::Source source, Time now);
  void news(Time now);
  void wait_anew(Time now);
  PacketRange missing_from(PacketNumber number);
  PacketRange oldest_missing();
  PacketRange newest_missing();
  PacketRange last_request();
  Overdue overdue();
  // These three are false if the retry limit is exceeded; the oldest request has then failed.
  bool implied_nak(Time now);
  bool recover_from(PacketNumber number, Time now);
  bool take_transport_retry();
  void ack_timeout(Time now);
  void wake_recovery(Time now);

  // request_completion.cpp: completions in order, errors, flush, failed memory accesses.
  void complete_finished();
  void complete_oldest();
  void fail_oldest(WorkStatus status);
  void fail_here(std::uint32_t index, WorkStatus status);
  void redo_failed_queue(const AccessTag& tag);
  void redo_running_queue(const AccessTag& tag);

  // Requests are sent and responses are taken in RTS. In SQD this goes on for requests that have begun (IBTA
  // 10.3.1.5).
  bool running() const {
    return started_ && !shared_.failed && (shared_.state == QpState::rts || shared_.state == QpState::sqd);
  }
  wire::Psn psn_of(PacketNumber number) const {
    return first_psn_ + static_cast<std::uint32_t>(number.value() & wire::Psn::kMask);
  }
  std::uint64_t in_flight() const { return next_new_ - unacknowledged_; }
  // What the peer has taken is not in the network, even if an earlier packet is missing.
  bool window_has_room() const {
    if (!control_has_room()) return false;
    if (in_flight() < congestion_window_) return true;
    return selective_ != nullptr && in_flight() < window_packets_ &&
           in_flight() - selective_->arrived_ahead() < congestion_window_;
  }
  AccessTag next_tag(PacketNumber number, std::uint32_t index) {
    return AccessTag{
        .stream = Stream::requester, .psn = psn_of(number), .wqe_index = index, .action = ++action_};
  }
  // True if the action numbered `action` came after the failed access, so that the host discarded it.
  static bool discarded(std::uint32_t an_action, const AccessTag& tag) {
    return static_cast<std::int32_t>(an_action - tag.action) > 0;
  }
  bool response_expected() const { return unacknowledged_ < response_expected_until_; }
  // Ahead of the first packet that is not acknowledged, only a selective recovery notes what has arrived.
  bool may_note_arrival(PacketNumber number) const {
    return number == unacknowledged_ || (selective_ != nullptr && selective_->covers(number));
  }
  bool has_arrived(PacketNumber number) const {
    return selective_ != nullptr && selective_->has_arrived(number);
  }
  // The first from `from` on, before `limit`, that is not known to have arrived; `limit` if there is none.
  PacketNumber first_missing(PacketNumber from, PacketNumber limit) const {
    return selective_ != nullptr ? selective_->first_missing(from, limit) : from;
  }
  bool recovery_lets_send_new() const { return recovery_->may_send_new(in_flight()); }

  SharedState& shared_;
  SendWindow window_;
  std::unique_ptr<LossRecovery> recovery_;
  ScoreboardRecovery* selective_ = nullptr;      // `recovery_`, if it is one
  std::unique_ptr<LossRecovery> next_recovery_;  // takes over when nothing is under way
  bool next_reads_selective_acks_ = false;
  RetryCounters retries_;
  AckTimer ack_timer_;
  RnrWait rnr_wait_;
  FlowControl flow_control_;
  ReadsUnderWay reads_;
  SelectiveAckAgreement selective_acks_;
  SendPace pace_;
  std::unique_ptr<SenderControl> control_;  // or null

  bool started_ = false;
  wire::Psn first_psn_;
  std::uint32_t path_mtu_ = 1024;
  // Most packets from the first that is not acknowledged on, READ responses aside; and most of them that may
  // not have arrived.
  std::uint32_t window_packets_;
  std::uint32_t congestion_window_;
  std::uint32_t ack_interval_;  // packets between two that ask for an acknowledgement

  PacketNumber unacknowledged_;  // the first that is not acknowledged or answered
  PacketNumber executed_until_;  // the peer has executed all requests before; READs may lack responses
  PacketNumber next_new_;        // the first that was never sent
  PacketNumber response_expected_until_;  // behind the last packet sent that asks for a response
  // `fail_here` takes packets back that have left. This is behind the last of them: a response to one of them
  // still acknowledges the packets before the failed request.
  PacketNumber cut_end_;
  wire::Msn last_message_;  // send sequence number of the request taken last

  // A response from another UDP source port than the peer's, and what was unacknowledged when it came.
  struct Unconfirmed {
    std::uint16_t port;
    wire::Bth bth;
    wire::Aeth aeth;
    std::size_t length;
    PacketNumber at;
    std::uint32_t copies;
    std::uint32_t retries;  // used up when the last copy came
  };
  std::optional<Unconfirmed> unconfirmed_;

  bool implied_nak_taken_ = false;       // since the last progress
  bool timed_out_packet_waits_ = false;  // nothing that asks for a response has left since the last timeout
  std::uint32_t action_ = 0;             // actions emitted so far
};

}  // namespace urnic::transport
