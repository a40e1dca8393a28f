// What the connection manager counts for each device, as Linux shows it in ports/1/cm_tx_msgs, cm_tx_retries,
// cm_rx_msgs and cm_rx_duplicates.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace urnic::cm {

// The messages in the order of their attribute ids, from 0x10.
enum class Message : std::uint8_t { req, mra, rej, rep, rtu, dreq, drep, sidr_req, sidr_rep, lap, apr };
inline constexpr std::size_t kMessages = 11;
// Linux's names for them, by Message.
inline constexpr std::array<std::string_view, kMessages> kMessageNames{
    "req", "mra", "rej", "rep", "rtu", "dreq", "drep", "sidr_req", "sidr_rep", "lap", "apr"};

using MessageCounts = std::array<std::uint64_t, kMessages>;

struct Counters {
  MessageCounts sent{};
  MessageCounts repeated{};  // of those sent, how many were sent before
  MessageCounts received{};
  MessageCounts duplicates{};
  std::uint64_t malformed = 0;         // not a MAD of the CM, or its lengths lie
  std::uint64_t dropped_requests = 0;  // REQ and SIDR_REQ: full backlog, no room, or by the user's decision
};

}  // namespace urnic::cm
