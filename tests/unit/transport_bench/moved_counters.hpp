// Which counters have moved, as text: a test row that names an event's counters says by that that no other
// one moves.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>

#include "device_model/transport/counters.hpp"

namespace urnic::transport::bench {

struct NamedCounter {
  const char* name;
  std::uint64_t Counters::*member;
};

// Every member, in the order of its declaration.
inline constexpr std::array<NamedCounter, sizeof(Counters) / sizeof(std::uint64_t)> kNamedCounters{{
    {"out_of_sequence", &Counters::out_of_sequence},
    {"duplicate_request", &Counters::duplicate_request},
    {"held_packets", &Counters::held_packets},
    {"held_duplicates", &Counters::held_duplicates},
    {"held_discards", &Counters::held_discards},
    {"held_contradictions", &Counters::held_contradictions},
    {"other_port_discards", &Counters::other_port_discards},
    {"read_repeat_discards", &Counters::read_repeat_discards},
    {"selective_ack_offers_sent", &Counters::selective_ack_offers_sent},
    {"selective_acks_sent", &Counters::selective_acks_sent},
    {"rnr_nak_sent", &Counters::rnr_nak_sent},
    {"responder_access_errors", &Counters::responder_access_errors},
    {"responder_invalid_requests", &Counters::responder_invalid_requests},
    {"responder_operation_errors", &Counters::responder_operation_errors},
    {"responder_local_length_errors", &Counters::responder_local_length_errors},
    {"received_write_requests", &Counters::received_write_requests},
    {"received_read_requests", &Counters::received_read_requests},
    {"received_atomic_requests", &Counters::received_atomic_requests},
    {"received_send_requests", &Counters::received_send_requests},
    {"pkey_violations", &Counters::pkey_violations},
    {"qkey_violations", &Counters::qkey_violations},
    {"messages_without_receive", &Counters::messages_without_receive},
    {"packet_sequence_error", &Counters::packet_sequence_error},
    {"implied_nak_sequence_error", &Counters::implied_nak_sequence_error},
    {"local_ack_timeout", &Counters::local_ack_timeout},
    {"rnr_nak_retry", &Counters::rnr_nak_retry},
    {"requester_remote_access_errors", &Counters::requester_remote_access_errors},
    {"requester_remote_invalid_request", &Counters::requester_remote_invalid_request},
    {"requester_cqe_errors", &Counters::requester_cqe_errors},
    {"responder_cqe_errors", &Counters::responder_cqe_errors},
    {"requester_flushed", &Counters::requester_flushed},
    {"responder_flushed", &Counters::responder_flushed},
    {"retransmitted_packets", &Counters::retransmitted_packets},
    {"adaptive_retransmissions", &Counters::adaptive_retransmissions},
    {"adaptive_timeouts", &Counters::adaptive_timeouts},
    {"duplicate_acknowledgements", &Counters::duplicate_acknowledgements},
    {"retry_exceeded", &Counters::retry_exceeded},
    {"rnr_retry_exceeded", &Counters::rnr_retry_exceeded},
    {"congestion_marks", &Counters::congestion_marks},
    {"congestion_notifications", &Counters::congestion_notifications},
    {"notifications_handled", &Counters::notifications_handled},
    {"notifications_ignored", &Counters::notifications_ignored},
    {"slow_restarts", &Counters::slow_restarts},
    {"bad_responses", &Counters::bad_responses},
}};

// "out_of_sequence 1, held_packets 2": those that are not 0, in the order above.
inline std::string moved(const Counters& counters) {
  std::string text;
  for (const NamedCounter& counter : kNamedCounters) {
    const std::uint64_t value = counters.*counter.member;
    if (value != 0) text += (text.empty() ? "" : ", ") + (counter.name + (' ' + std::to_string(value)));
  }
  return text;
}

}  // namespace urnic::transport::bench
