// A packet on its way from one end of a connection to the other, and what became of it.
#pragma once

#include <cstdint>

#include "analysis/dissection/mad_names.hpp"
#include "wire/opcode.hpp"
#include "wire/psn.hpp"

namespace urnic::analysis {

// The number of a packet's first record in its capture, from 1, as Wireshark counts. 0: none.
using FrameNumber = std::uint64_t;

// An index into FlowTracker::flows.
using FlowIndex = std::uint32_t;
inline constexpr FlowIndex kNoFlow = ~FlowIndex{0};

enum class Role : std::uint8_t {
  request,       // of a connection, which a responder answers or executes
  response,      // an answer: ACK, NAK, response to a READ or an atomic
  datagram,      // UD
  notification,  // of congestion
  other,         // an offer of selective acknowledges, an unknown opcode
};

// A packet's place among those that its sender has sent, by PSN.
enum class Order : std::uint8_t {
  unknown,         // a datagram, or the capture does not tell
  next,            // the PSN that follows
  after_gap,       // PSNs before it have not been seen: lost before this point of capture, or late
  late,            // fills a gap, and nothing had asked for it: it was overtaken
  retransmission,  // of Packet::of; 0: of a packet that was lost before this point of capture
  copy,            // the network made it of Packet::of
  repeated,        // an answer that was given before
};

// What became of a packet. Seen: by records at urnic's capture points. Else inferred from later packets.
enum class Fate : std::uint8_t {
  unknown,
  arrived,        // seen
  acknowledged,   // inferred from an acknowledgement
  dropped,        // seen, where it was dropped
  damaged,        // seen: its ICRC or a checksum is wrong, so the receiver drops it
  vanished,       // seen sent, never seen to arrive
  presumed_lost,  // inferred: a NAK asked for it, or for what came before it
  unanswered,     // inferred: sent again without having been asked for; it or its answer was lost
  refused,        // inferred: a NAK or RNR NAK names it
};
constexpr bool is_lost(Fate fate) {
  return fate == Fate::dropped || fate == Fate::damaged || fate == Fate::vanished ||
         fate == Fate::presumed_lost;
}

// How a request met its receiver, if the capture has a point there.
enum class Arrival : std::uint8_t {
  not_seen,
  in_order,
  early,  // PSNs before it have not arrived
  again,  // its PSN has arrived before
};

// What an answer says of requests.
enum class Answer : std::uint8_t {
  none,
  acknowledge,      // of all requests up to the PSN
  read_response,    // to the READ `answers`
  atomic_response,  // to the atomic `answers`
  sequence_nak,     // asks for the PSN
  rnr_nak,          // the request with the PSN found no receive
  error_nak,        // the request with the PSN failed
  selective,        // asks for the PSN, and says what has arrived behind it
};

struct Packet {
  FrameNumber number = 0;
  std::int64_t sent = 0;        // nanoseconds since the Unix epoch: its first record
  std::int64_t arrived = 0;     // its record at the receiver; 0: there is none
  FrameNumber fate_record = 0;  // the record that tells its fate: arrival, drop, NAK, acknowledgement
  FlowIndex flow = kNoFlow;
  wire::Psn psn;
  wire::Opcode opcode;
  Role role = Role::other;
  Order order = Order::unknown;
  Fate fate = Fate::unknown;
  Arrival arrival = Arrival::not_seen;
  Answer answer = Answer::none;
  std::uint8_t syndrome = 0;  // of an answer with an AETH
  MadKind management;         // class 0: it is no management datagram
  bool ack_request = false;
  bool congestion = false;           // marked CE or FECN, where it was seen last
  bool injected = false;             // made by a fault, not by its sender
  bool has_comment = false;          // FlowTracker::comment
  bool is_judged = false;            // an answer whose effect on requests is in the numbers below
  bool is_repeated_ack = false;      // acknowledges nothing new
  bool is_counted = false;           // its payload is in the goodput
  std::uint16_t transmission = 0;    // from 1: how often this PSN has been sent by now
  std::uint16_t identification = 0;  // of IPv4
  std::uint32_t payload = 0;         // bytes, without pad
  std::uint32_t frame_bytes =
      0;                     // on the wire: from the Ethernet header to the ICRC, or from the LRH to the VCRC
  std::uint32_t length = 0;  // of a READ, or of the message that a RETH begins: bytes
  std::uint32_t gap = 0;     // Order::after_gap: how many PSNs are missing before it
  std::uint32_t message = 0;        // from 1: which message of its flow it belongs to; 0: unknown
  std::uint32_t message_bytes = 0;  // of a message's last packet: the message's length
  FrameNumber of = 0;               // see Order
  FrameNumber answers = 0;          // of a response: the request; of a notification: what was marked
  FrameNumber acks_first = 0;  // of an answer: the packets that it acknowledges, by the first and last PSN
  FrameNumber acks_last = 0;
  std::uint32_t acks = 0;  // how many PSNs
  wire::Psn latest;        // of a selective acknowledge (docs/selective-acks.md)
  std::uint64_t earlier = 0;
};

// A capture has millions of them.
static_assert(sizeof(Packet) <= 136);

}  // namespace urnic::analysis
