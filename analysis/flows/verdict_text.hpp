// What a FlowTracker says of a packet, in words.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/flows/flow_tracker.hpp"

namespace urnic::analysis {

// The words by which packets are chosen, in the order of all_verdict_words.
std::vector<std::string_view> verdict_words(const Packet& packet);
// new, gap, retransmission, duplicate, out-of-order, lost, unanswered, refused, ack, nak, rnr, sack,
// response, congestion, fault.
const std::vector<std::string_view>& all_verdict_words();

// "retransmission of 47; lost: urnic0 tx: rule "tenth again": dropped". Numbers are frame numbers. Empty: the
// next packet of its flow, of which there is no more to say.
std::string verdict_text(const FlowTracker& tracker, const Packet& packet);

// The same without what happens to every packet: ends of messages, and what is acknowledged.
std::string remark_text(const FlowTracker& tracker, const Packet& packet);

// A packet in a few words: "Send Middle 6820633", "NAK 6820633, PSN sequence error".
std::string short_text(const Packet& packet);

// How two flows are known to be one connection.
const char* describe(Pairing pairing);

}  // namespace urnic::analysis
