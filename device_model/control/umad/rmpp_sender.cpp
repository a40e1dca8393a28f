#include "device_model/control/umad/rmpp_sender.hpp"

#include <algorithm>

namespace urnic::control {
namespace {

using wire::mad::kRmppPayloadBytes;
using wire::mad::RmppStatus;

std::size_t offset_of(const std::vector<std::byte>& message) {
  return data_offset(wire::mad::ManagementClass{std::to_integer<std::uint8_t>(message[1])});
}

// A message without data is one segment.
std::uint32_t count_of(std::size_t data, std::size_t of_segment) {
  return static_cast<std::uint32_t>(std::max<std::size_t>((data + of_segment - 1) / of_segment, 1));
}

}  // namespace

RmppSender::RmppSender(std::vector<std::byte> message, const Limits& limits, Clock::time_point now)
    : message_(std::move(message)),
      limits_(limits),
      data_offset_(offset_of(message_)),
      segments_(count_of(message_.size() - data_offset_, wire::mad::kMadBytes - data_offset_)),
      window_(limits.window),
      retries_(limits.retries),
      due_(now + wait()) {}

RmppSender::Clock::duration RmppSender::wait() const {
  const bool is_given = limits_.wait.count() != 0;
  return is_given ? std::clamp(limits_.wait, kShortestWait, kLongestWait) : kLongestWait;
}

bool RmppSender::has_next() const {
  return state_ == State::under_way && sent_ < std::min(window_, segments_);
}

// The length of the first segment is the whole message's, with the class's header once for each segment, and
// that of the last segment its own (IBTA 13.6.2.1).
std::optional<wire::mad::Mad> RmppSender::next(Clock::time_point now) {
  if (!has_next()) return {};
  const std::size_t room = wire::mad::kMadBytes - data_offset_;
  const std::size_t begin = data_offset_ + sent_ * room;
  const std::size_t pad = segments_ * room - (message_.size() - data_offset_);
  wire::mad::Mad mad{};
  std::copy_n(message_.begin(), data_offset_, mad.begin());
  const std::size_t length = std::min(room, message_.size() - begin);
  std::copy_n(message_.begin() + static_cast<std::ptrdiff_t>(begin), length,
              mad.begin() + static_cast<std::ptrdiff_t>(data_offset_));
  ++sent_;
  wire::mad::RmppHeader header;
  decode(mad, header);
  header = {.version = wire::mad::kRmppVersion,
            .type = wire::mad::RmppType::data,
            .response_time = header.response_time,
            .last = sent_ == segments_,
            .first = sent_ == 1,
            .active = true,
            .segment = sent_};
  if (header.first) header.length_or_window = static_cast<std::uint32_t>(segments_ * kRmppPayloadBytes - pad);
  if (header.last) header.length_or_window = static_cast<std::uint32_t>(kRmppPayloadBytes - pad);
  encode(header, mad);
  due_ = now + wait();
  return mad;
}

RmppStatus RmppSender::acknowledge(std::uint32_t segment, std::uint32_t window, Clock::time_point now) {
  if (state_ != State::under_way) return RmppStatus::normal;
  const auto refuse = [&](RmppStatus why) {
    abort();
    return why;
  };
  if (window < segment) return refuse(RmppStatus::window_too_small);
  if (segment > segments_ || segment > window_) return refuse(RmppStatus::segment_too_big);
  if (window < window_ || segment < acknowledged_) return RmppStatus::normal;  // an old one
  if (segment > acknowledged_) {
    retries_ = limits_.retries;
    due_ = now + wait();
  }
  acknowledged_ = segment;
  sent_ = std::max(sent_, segment);
  window_ = window;
  if (acknowledged_ == segments_) state_ = State::acknowledged;
  return RmppStatus::normal;
}

void RmppSender::expire(Clock::time_point now) {
  if (state_ != State::under_way || now < due_) return;
  if (retries_ == 0) {
    state_ = State::timed_out;
    return;
  }
  --retries_;
  sent_ = acknowledged_;
  due_ = now + wait();
}

}  // namespace urnic::control
