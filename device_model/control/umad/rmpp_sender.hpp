// One message on its way out as several datagrams: what the sender of RMPP does (IBTA 13.6), as Linux's
// ib_mad does it. No clock and no socket: the caller sends what `next` returns, and says what time it is.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "wire/mad/rmpp.hpp"

namespace urnic::control {

class RmppSender {
 public:
  using Clock = std::chrono::steady_clock;
  // How long an acknowledgement may take at most, whatever the program says, until segments are sent again.
  static constexpr std::chrono::milliseconds kLongestWait{2000};
  static constexpr std::chrono::milliseconds kShortestWait{10};

  struct Limits {
    std::chrono::milliseconds wait{0};  // for an acknowledgement; 0: kLongestWait
    std::uint32_t retries = 0;          // without an acknowledgement of more
    std::uint32_t window = 1;           // the last segment that may be sent before there is one
  };

  // `message` is a datagram's headers, to the offset of its class's data, and then all data; its RMPP
  // header's response time counts.
  RmppSender(std::vector<std::byte> message, const Limits& limits, Clock::time_point now);

  // Whether there is a segment to send; else an acknowledgement has to come first, or all is over.
  bool has_next() const;
  // That segment; empty: there is none.
  std::optional<wire::mad::Mad> next(Clock::time_point now);

  enum class State : std::uint8_t { under_way, acknowledged, timed_out, aborted };
  State state() const { return state_; }
  std::size_t bytes() const { return message_.size(); }

  // An acknowledgement. Returns why it is wrong: the message is aborted then, and its receiver is told.
  wire::mad::RmppStatus acknowledge(std::uint32_t segment, std::uint32_t window, Clock::time_point now);
  // The receiver has stopped or aborted the message, or has sent nonsense.
  void abort() { state_ = State::aborted; }

  // While under way.
  Clock::time_point due() const { return due_; }
  // When `due` has come: `next` begins behind the last acknowledged segment once more, or it has timed out.
  void expire(Clock::time_point now);

 private:
  Clock::duration wait() const;

  std::vector<std::byte> message_;
  Limits limits_;
  std::size_t data_offset_;
  std::uint32_t segments_;
  std::uint32_t sent_ = 0;          // the last one, since the last retry
  std::uint32_t acknowledged_ = 0;  // the last one
  std::uint32_t window_;
  std::uint32_t retries_;
  Clock::time_point due_;
  State state_ = State::under_way;
};

}  // namespace urnic::control
