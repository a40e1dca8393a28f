#include "device_model/control/umad/rmpp_receiver.hpp"

namespace urnic::control {
namespace {

using wire::mad::kRmppPayloadBytes;
using wire::mad::RmppHeader;
using wire::mad::RmppStatus;
using wire::mad::RmppType;

constexpr std::size_t kHeaderBytes = wire::mad::kMadHeaderBytes + wire::mad::kRmppHeaderBytes;

}  // namespace

RmppReply rmpp_abort(RmppStatus why) { return {.type = RmppType::abort, .status = why}; }

RmppStatus check_segment(const RmppHeader& header) {
  if (header.status != RmppStatus::normal) return RmppStatus::illegal_status;
  if (header.first != (header.segment == 1)) return RmppStatus::inconsistent_first;
  return RmppStatus::normal;
}

RmppReceiver::RmppReceiver(std::size_t offset, std::size_t most_bytes, Clock::time_point now)
    : offset_(offset), most_bytes_(most_bytes), due_(now + kLongestMessage) {}

std::size_t RmppReceiver::bytes() const { return message_.size() + early_.size() * wire::mad::kMadBytes; }

RmppReply RmppReceiver::take(const RmppHeader& header, std::span<const std::byte, wire::mad::kMadBytes> mad,
                             bool has_room, Clock::time_point now) {
  if (state_ == State::over || header.segment > window_) return {};
  if (state_ == State::complete || header.segment <= acknowledged_) return acknowledge();
  if (header.segment <= taken_) return {};
  if (!has_room) return give_up(RmppType::stop, RmppStatus::resources_exhausted);
  if (message_.empty()) message_.assign(mad.begin(), mad.begin() + static_cast<std::ptrdiff_t>(offset_));
  const auto data = mad.subspan(offset_);
  const Segment segment{header, {data.begin(), data.end()}};
  if (header.segment != taken_ + 1) {
    early_.emplace(header.segment, segment);
    return {};
  }
  RmppReply reply = add(segment, now);
  while (state_ == State::under_way && !early_.empty() && early_.begin()->first == taken_ + 1) {
    const auto held = early_.extract(early_.begin());
    reply = add(held.mapped(), now);
  }
  return reply;
}

// The length of the last segment counts the class's header and its data (IBTA 13.6.2.1).
RmppReply RmppReceiver::add(const Segment& segment, Clock::time_point now) {
  std::size_t used = segment.data.size();
  if (segment.header.last) {
    const std::size_t length = segment.header.length_or_window;
    if (length < offset_ - kHeaderBytes || length > kRmppPayloadBytes)
      return give_up(RmppType::abort, RmppStatus::inconsistent_last);
    used = length - (offset_ - kHeaderBytes);
  }
  if (message_.size() + used > most_bytes_) return give_up(RmppType::stop, RmppStatus::resources_exhausted);
  message_.insert(message_.end(), segment.data.begin(),
                  segment.data.begin() + static_cast<std::ptrdiff_t>(used));
  taken_ = segment.header.segment;
  if (segment.header.last) {
    state_ = State::complete;
    due_ = now + kMemory;
    early_.clear();
    return acknowledge();
  }
  if (taken_ != window_) return {};
  window_ += kWindow;
  return acknowledge();
}

RmppReply RmppReceiver::acknowledge() {
  acknowledged_ = taken_;
  return {.type = RmppType::acknowledgement, .segment = taken_, .window = window_};
}

RmppReply RmppReceiver::give_up(RmppType type, RmppStatus why) {
  state_ = State::over;
  early_.clear();
  message_.clear();
  return {.type = type, .status = why};
}

}  // namespace urnic::control
