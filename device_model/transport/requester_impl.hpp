// The requester's state and the parts that it is made of. Each part's functions are in their own file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "device_model/transport/ack_timer.hpp"
#include "device_model/transport/loss_recovery.hpp"
#include "device_model/transport/requester.hpp"
#include "device_model/transport/retry_counters.hpp"
#include "device_model/transport/segmentation.hpp"
#include "device_model/transport/send_credits.hpp"
#include "device_model/transport/send_window.hpp"
#include "wire/psn.hpp"

namespace urnic::transport {

// Outstanding packets never span more than half the PSN space, or the responder could not tell new ones from
// duplicates (IBTA 9.7.1).
inline constexpr std::uint32_t kMaxOutstandingPsns = 1u << 23;

struct Requester::Impl {
  explicit Impl(SharedState& shared_state);

  // requester.cpp
  void reset();
  void start(Time now);
  void parameters_changed(Time now);
  void use(const RecoverySettings& settings);
  void take_next_recovery();
  std::optional<Time> deadline() const;
  void on_timer(Time now);

  // request_sending.cpp: what to send next, and sending it.
  bool wants_pump() const;
  std::uint32_t pump(Time now, std::uint32_t packets);
  bool must_send_again() const;
  std::uint32_t pump_again(Time now, std::uint32_t packets);
  bool take_request();
  WorkStatus check_request(const SendRequest& request) const;
  bool may_take() const;
  bool may_send_new(const SendSlot& slot) const;
  bool may_execute_local(const SendSlot& slot) const;
  bool has_room_for(const SendSlot& slot) const;
  bool probing() const;
  bool lacks_credit(const SendSlot& slot, std::uint32_t at) const;
  bool send_new(Time now);
  // `first` is where what is to be sent again begins.
  bool send_again(PacketNumber first, Time now);
  // Sends the packet at place `at` of a request. Returns the PSNs that it takes; 0 if its memory is not
  // allowed.
  std::uint32_t emit_packet(std::uint32_t index, std::uint32_t at, std::uint32_t wanted, Time now);
  bool wants_ack(const SendSlot& slot, std::uint32_t at) const;
  void execute_local(SendSlot& slot);

  // response_handling.cpp: what a response says.
  void receive(const InboundPacket& packet, Time now);
  void take_response(PacketNumber number, const InboundPacket& packet, Time now);
  void on_stale_response(const InboundPacket& packet);
  void on_acknowledge(PacketNumber number, const wire::TransportHeaders& headers, Time now);
  void on_nak(PacketNumber number, const wire::TransportHeaders& headers, Time now);
  void on_sequence_nak(PacketNumber number, const wire::TransportHeaders& headers, Time now);
  void refused(PacketNumber number, WorkStatus status, Time now);
  void on_rnr_nak(PacketNumber number, std::uint8_t code, Time now);
  void on_read_response(PacketNumber number, const InboundPacket& packet, Time now);
  void on_atomic_acknowledge(PacketNumber number, const InboundPacket& packet, Time now);
  bool read_response_fits(const SendSlot& slot, std::uint32_t at, const InboundPacket& packet) const;
  bool scatter(std::uint32_t index, std::uint64_t offset, std::span<const std::byte> data, bool message_end,
               PacketNumber number);
  void answered(PacketNumber number, Time now);
  void bad_response();

  // selective_acknowledgement.cpp: what the peer tells beyond the specification.
  void learn_participation(const wire::Bth& bth);
  void take_selective_ack(const wire::SelectiveAckEth& header, Time now);
  void take_early_arrival(PacketNumber number, Time now);

  // retransmission.cpp: progress, and what happens without.
  bool acknowledge_until(PacketNumber until, Time now);
  PacketNumber done_from(PacketNumber reached) const;
  void note_executed(PacketNumber until, Time now);
  void progress_to(PacketNumber until, LossRecovery::Source source, Time now);
  void news(Time now);
  void wait_anew(Time now);
  PacketRange missing_from(PacketNumber number);
  PacketRange oldest_missing();
  PacketRange newest_missing();
  void implied_nak(Time now);
  void recover_from(PacketNumber number, Time now);
  void ack_timeout(Time now);

  // request_completion.cpp: completions in order, errors, flush, and taking back what a failed access undid.
  void complete_finished();
  void complete_oldest();
  void fail_oldest(WorkStatus status);
  void fail_here(std::uint32_t index, WorkStatus status);
  void flush();
  void memory_failed(const AccessTag& tag, Time now);
  void redo_failed_queue(const AccessTag& tag);
  void redo_running_queue(const AccessTag& tag);
  void recount_reads();

  // Requests are sent and responses taken in RTS, and in SQD for what had been begun (IBTA 10.3.1.5).
  bool running() const {
    return started && !shared.failed && (shared.state == QpState::rts || shared.state == QpState::sqd);
  }
  wire::Psn psn_of(PacketNumber number) const {
    return first_psn + static_cast<std::uint32_t>(number.value() & wire::Psn::kMask);
  }
  std::uint64_t in_flight() const { return next_new - unacknowledged; }
  AccessTag next_tag(PacketNumber number, std::uint32_t index) {
    return AccessTag{
        .stream = Stream::requester, .psn = psn_of(number), .wqe_index = index, .action = ++action};
  }
  // True if the action numbered `action` came after the failed access, so that the host discarded it.
  static bool discarded(std::uint32_t an_action, const AccessTag& tag) {
    return static_cast<std::int32_t>(an_action - tag.action) > 0;
  }
  bool response_expected() const { return unacknowledged < response_expected_until; }

  SharedState& shared;
  SendWindow window;
  std::unique_ptr<LossRecovery> recovery;
  std::unique_ptr<LossRecovery> next_recovery;  // takes over when nothing is under way
  RetryCounters retries;
  AckTimer ack_timer;
  SendCredits credits;

  bool started = false;
  wire::Psn first_psn;
  std::uint32_t path_mtu = 1024;
  std::uint32_t window_packets;  // most under way, READ responses aside
  std::uint32_t ack_interval;    // packets between two that ask for an acknowledgement

  PacketNumber unacknowledged;  // the first that is not acknowledged or answered
  PacketNumber executed_until;  // the peer has executed all requests before; READs may lack responses
  PacketNumber next_new;        // the first that was never sent
  PacketNumber response_expected_until;  // beyond the last sent that asks for a response
  // Beyond the packets that had left when the queue was cut in front of their request (fail_here): a response
  // to one of them still acknowledges what is before the cut.
  PacketNumber cut_end;
  wire::Msn last_message;  // send sequence number of the request taken last

  // READs and atomics sent and not complete. One that is answered ahead of an earlier one counts: the
  // responder keeps the results of the latest only (IBTA 9.7.4.1.4), and the earlier one may be asked for
  // again.
  std::uint32_t reads_under_way = 0;
  bool implied_nak_taken = false;       // since the last progress
  bool timed_out_packet_waits = false;  // nothing has left since the last timeout
  // Whether the peer gives selective acks; its first response shows it (docs/selective-acks.md).
  enum class Participation : std::uint8_t { unknown, yes, no };
  Participation participation = Participation::unknown;
  bool offering = false;  // of selective acks
  bool next_offering = false;
  // A request that the peer has refused for good, while responses to earlier ones are missing.
  struct Refused {
    PacketNumber packet;
    WorkStatus status;
  };
  std::optional<Refused> refused_request;
  // The packet that was sent without a credit: nothing new follows before it is acknowledged or its message
  // has a credit after all.
  struct Probe {
    PacketNumber packet;
    wire::Msn message;
  };
  std::optional<Probe> probe;
  std::optional<Time> rnr_until;  // waiting to send `rnr_packet` again
  PacketNumber rnr_packet;
  std::uint32_t action = 0;  // actions emitted so far
};

}  // namespace urnic::transport
