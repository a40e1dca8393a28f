// What a port's queue pairs count. docs/counters.md has the definition of each, and whose it is;
// control/counter_values.cpp has the names of the files. Plain integers: one engine writes them, others read
// copies.
#pragma once

#include <cstdint>

namespace urnic::transport {

struct Counters {
  // Responder side
  std::uint64_t out_of_sequence = 0;    // NAKs "PSN sequence error" sent; UC: packets that break the sequence
  std::uint64_t duplicate_request = 0;  // requests that have been executed before
  std::uint64_t held_packets = 0;       // rx_held_packets: out of sequence, kept until their turn
  std::uint64_t held_duplicates = 0;    // rx_held_duplicates: came again while they were kept
  std::uint64_t held_discards = 0;      // rx_held_discards: not kept for want of a slot, so as good as lost
  // rx_other_port_discards: from outside, not from the UDP source port that the connection uses
  std::uint64_t other_port_discards = 0;
  std::uint64_t held_contradictions = 0;  // rx_held_contradictions: were held, and another one had their PSN,
                                          // or their turn came and they did not fit
  std::uint64_t read_repeat_discards = 0;  // rx_read_repeat_discards: READs asked for again, no room for them
  std::uint64_t selective_acks_sent = 0;   // tx_selective_acks
  std::uint64_t selective_ack_offers_sent = 0;  // tx_selective_ack_offers
  std::uint64_t rnr_nak_sent = 0;
  std::uint64_t congestion_marks = 0;            // np_ecn_marked_roce_packets
  std::uint64_t congestion_notifications = 0;    // np_cnp_sent
  std::uint64_t responder_access_errors = 0;     // resp_remote_access_errors
  std::uint64_t responder_invalid_requests = 0;  // resp_remote_invalid_request
  std::uint64_t responder_operation_errors = 0;  // resp_remote_operation_errors
  std::uint64_t responder_local_length_errors = 0;
  std::uint64_t received_write_requests = 0;  // rx_write_requests
  std::uint64_t received_read_requests = 0;
  std::uint64_t received_atomic_requests = 0;
  std::uint64_t received_send_requests = 0;
  std::uint64_t pkey_violations = 0;           // packets of another partition than the QP's
  std::uint64_t qkey_violations = 0;           // datagrams with another Q_Key than the QP's
  std::uint64_t messages_without_receive = 0;  // rx_datagram_discards: of UC, UD and raw packets, dropped
  // Requester side
  // The first, third and fourth do not count what exceeds the retry limit: retry_exceeded,
  // rnr_retry_exceeded.
  std::uint64_t packet_sequence_error = 0;       // packet_seq_err: NAKs "PSN sequence error" that arrived
  std::uint64_t implied_nak_sequence_error = 0;  // implied_nak_seq_err
  std::uint64_t local_ack_timeout = 0;           // local_ack_timeout_err
  std::uint64_t rnr_nak_retry = 0;               // rnr_nak_retry_err: RNR NAKs that arrived
  std::uint64_t requester_remote_access_errors = 0;
  std::uint64_t requester_remote_invalid_request = 0;
  std::uint64_t requester_cqe_errors = 0;  // with those flushed
  std::uint64_t responder_cqe_errors = 0;
  std::uint64_t requester_flushed = 0;  // req_cqe_flush_error
  std::uint64_t responder_flushed = 0;
  std::uint64_t retransmitted_packets = 0;
  std::uint64_t duplicate_acknowledgements = 0;
  std::uint64_t retry_exceeded = 0;
  std::uint64_t rnr_retry_exceeded = 0;
  std::uint64_t bad_responses = 0;
  std::uint64_t notifications_handled = 0;  // rp_cnp_handled
  std::uint64_t notifications_ignored = 0;  // rp_cnp_ignored: of QPs without congestion control
  std::uint64_t slow_restarts = 0;          // roce_slow_restart
  // The recovery's own timer, which adapts to round trips, had something sent again.
  std::uint64_t adaptive_retransmissions = 0;  // roce_adp_retrans
  std::uint64_t adaptive_timeouts = 0;  // roce_adp_retrans_to: ACK timeouts of QPs with such a recovery
};

}  // namespace urnic::transport
