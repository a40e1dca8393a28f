// One message on its way in as several datagrams: what the receiver of RMPP does (IBTA 13.6), as Linux's
// ib_mad does it. No clock and no socket: the caller sends the replies, and says what time it is.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "wire/mad/rmpp.hpp"

namespace urnic::control {

// What goes back to the sender of a segment; none: nothing.
struct RmppReply {
  wire::mad::RmppType type = wire::mad::RmppType::none;
  wire::mad::RmppStatus status = wire::mad::RmppStatus::normal;
  std::uint32_t segment = 0;
  std::uint32_t window = 0;
  friend bool operator==(const RmppReply&, const RmppReply&) = default;
};

RmppReply rmpp_abort(wire::mad::RmppStatus why);

// Why a segment fits no message at all; normal: it may fit one.
wire::mad::RmppStatus check_segment(const wire::mad::RmppHeader& header);

class RmppReceiver {
 public:
  using Clock = std::chrono::steady_clock;
  // A whole message may take that long, and is remembered for so long afterwards: its last acknowledgement
  // may be lost.
  static constexpr std::chrono::seconds kLongestMessage{40};
  static constexpr std::chrono::seconds kMemory{10};
  // How many segments more may come after each acknowledgement.
  static constexpr std::uint32_t kWindow = 64;

  // Takes a message of up to `most_bytes`, with the headers once; `offset` is where the class's data begin in
  // each segment.
  RmppReceiver(std::size_t offset, std::size_t most_bytes, Clock::time_point now);

  // A segment for which check_segment was content. Unless `has_room` for a datagram more than `bytes()`, a
  // message that needs it is stopped.
  RmppReply take(const wire::mad::RmppHeader& header, std::span<const std::byte, wire::mad::kMadBytes> mad,
                 bool has_room, Clock::time_point now);

  enum class State : std::uint8_t { under_way, complete, over };
  State state() const { return state_; }
  // What is held in memory.
  std::size_t bytes() const;
  // The headers of the first segment and the data of all. Once complete it can be taken away.
  std::vector<std::byte>& message() { return message_; }
  // Until when it waits for segments, or is remembered.
  Clock::time_point due() const { return due_; }

  // The window for the answer to this message, as the other side has announced it (IBTA 13.6).
  std::uint32_t answer_window = 1;

 private:
  struct Segment {
    wire::mad::RmppHeader header;
    std::vector<std::byte> data;
  };

  RmppReply add(const Segment& segment, Clock::time_point now);
  RmppReply acknowledge();
  RmppReply give_up(wire::mad::RmppType type, wire::mad::RmppStatus why);

  std::size_t offset_;
  std::size_t most_bytes_;
  std::vector<std::byte> message_;
  std::map<std::uint32_t, Segment> early_;  // by number: a segment before them has not come yet
  std::uint32_t taken_ = 0;                 // the last segment in order
  std::uint32_t acknowledged_ = 0;
  std::uint32_t window_ = 1;
  Clock::time_point due_;
  State state_ = State::under_way;
};

}  // namespace urnic::control
