// The requests of one end of a connection by PSN: what was sent, how often, and what the other end has
// answered (IBTA 9.7.2 to 9.7.5).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "analysis/flows/packet.hpp"
#include "analysis/flows/packet_store.hpp"
#include "wire/psn.hpp"

namespace urnic::analysis {

// A request as it is sent.
struct SentRequest {
  wire::Psn psn;
  FrameNumber number = 0;
  PacketId id = kNoPacket;
  std::int64_t time = 0;
  std::uint32_t payload = 0;
  bool is_read = false;
  std::uint32_t psns = 1;    // a READ takes one for each packet of its response, as far as it is known
  std::uint32_t length = 0;  // of a READ: bytes
  std::uint16_t identification = 0;  // of IPv4; another packet of the sender has another one, unless it is 0
};

// What the window says of it.
struct OrderVerdict {
  Order order = Order::unknown;
  FrameNumber of = 0;          // the transmission before
  PacketId of_id = kNoPacket;  // the same, if it was seen
  std::uint32_t gap = 0;
  std::uint16_t transmission = 1;
  bool was_asked_for = false;  // a NAK or a selective acknowledge said that it is missing
  bool was_answered = false;   // it needed no retransmission, as far as answers tell
  bool in_going_back = false;  // follows a PSN that a NAK asked for
};

// What an answer acknowledges.
struct AckVerdict {
  FrameNumber first = 0;
  FrameNumber last = 0;
  std::uint32_t psns = 0;
  std::uint64_t payload = 0;               // bytes of requests that no earlier answer had acknowledged
  std::optional<std::int64_t> round_trip;  // nanoseconds, of a request that was sent once (Karn's rule)
};

// One request as far as the window knows it.
struct RequestSlot {
  FrameNumber number = 0;  // the latest transmission; 0: none was seen
  PacketId id = kNoPacket;
  std::int64_t time = 0;
  std::uint32_t payload = 0;
  std::uint16_t transmissions = 0;
  std::uint16_t identification = 0;
  bool is_read = false;
  bool is_acked = false;
  bool is_reported = false;  // by a selective acknowledge
  bool is_asked_for = false;
  bool is_answered = false;  // a READ's response with this PSN was seen
  bool has_arrived = false;  // at the receiver's capture point
};

class RequestWindow {
 public:
  // A PSN further off is that of another connection with the same QP number.
  static constexpr std::int32_t kFarthest = 1 << 16;
  // A longer row of PSNs that the capture does not have is not kept: the window begins anew behind it.
  static constexpr std::uint32_t kMostMissing = 1024;
  // Acknowledged requests that are kept, to recognise their retransmissions.
  static constexpr std::size_t kHistory = 4096;

  bool has_started() const { return !slots_.empty(); }
  std::size_t size() const { return slots_.size(); }
  // Whether the PSN is so far off that it is another connection's.
  bool is_far(wire::Psn psn) const;
  // Forgets everything.
  void clear() { slots_.clear(); }
  // The oldest request without an acknowledgement, and the one that follows the newest.
  wire::Psn unacknowledged() const { return unacknowledged_; }
  wire::Psn next() const { return base_ + static_cast<std::uint32_t>(slots_.size()); }
  // nullptr: the window does not know it.
  RequestSlot* slot(wire::Psn psn);
  const RequestSlot* slot(wire::Psn psn) const;

  OrderVerdict send(const SentRequest& request);
  // A READ's response shows how many PSNs it has.
  void extend_read(wire::Psn first, std::uint32_t psns);
  // All requests before `end` have been executed.
  AckVerdict acknowledge(wire::Psn end, std::int64_t time);
  // A NAK asks for `psn`, and all behind it in go-back-N.
  void go_back(wire::Psn psn);
  // How a request that arrives meets its receiver.
  Arrival arrive(wire::Psn psn);

 private:
  void restart(wire::Psn psn);
  void append(const SentRequest& request, std::uint32_t missing);
  bool is_end_of_read(std::uint32_t missing) const;
  OrderVerdict repeat(RequestSlot& slot, const SentRequest& request);
  void fill(RequestSlot& slot, const SentRequest& request);
  void skip_arrived();
  void trim();

  std::deque<RequestSlot> slots_;
  wire::Psn base_;  // of the first slot
  wire::Psn unacknowledged_;
  wire::Psn expected_;  // by the receiver
  std::optional<wire::Psn> went_back_to_;
  wire::Psn last_read_;
  std::uint32_t last_read_bytes_ = 0;
};

}  // namespace urnic::analysis
