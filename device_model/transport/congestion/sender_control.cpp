#include "device_model/transport/congestion/sender_control.hpp"

#include <algorithm>

namespace urnic::transport {
namespace {

// A process that was stopped, or a machine that stood still, finds answers to packets of long ago. How long
// they took says nothing of the path.
constexpr Nanoseconds kLongestRoundTrip = std::chrono::seconds(1);

// Zero, as of what was not measured, if no path is so long.
Nanoseconds believable(Nanoseconds round_trip) {
  return round_trip <= kLongestRoundTrip ? round_trip : Nanoseconds{0};
}

}  // namespace

SenderControl::SenderControl(const CongestionSettings& settings, std::uint32_t most_packets)
    : algorithm_(make_congestion_control(settings)),
      idle_(settings.slow_restart ? settings.idle : Nanoseconds::max()),
      record_(most_packets) {}

void SenderControl::start(std::uint32_t packet_bytes, Time now) {
  packet_bytes_ = packet_bytes;
  has_sent_ = false;
  record_.clear();
  algorithm_->start(packet_bytes, now);
  allowed_ = algorithm_->allowance(now);
}

bool SenderControl::wake(Time now) {
  if (!has_sent_ || now - last_sent_ < idle_) return false;
  return algorithm_->woken(now);
}

void SenderControl::sent(PacketNumber packet, std::uint32_t bytes, Time now) {
  record_.sent(packet, bytes, now);
  has_sent_ = true;
  last_sent_ = now;
  algorithm_->sent(bytes, now);
}

void SenderControl::sent_again(PacketRange packets, std::uint32_t bytes, Time now) {
  record_.sent_again(packets);
  last_sent_ = now;
  algorithm_->sent(bytes, now);
}

// A packet that had arrived before waited for others: how long the acknowledgement took says nothing of the
// path.
void SenderControl::acknowledged(PacketNumber until, bool in_turn, Time now) {
  const FlightRecord::Acknowledged taken = record_.acknowledge(until, now);
  algorithm_->acknowledged({.bytes = taken.bytes,
                            .round_trip = in_turn ? believable(taken.round_trip) : Nanoseconds{0},
                            .under_way = record_.bytes()},
                           now);
}

void SenderControl::arrived(PacketNumber packet, Time now) {
  const Nanoseconds round_trip = believable(record_.round_trip_of(packet, now));
  if (round_trip == Nanoseconds{0}) return;
  algorithm_->acknowledged({.bytes = 0, .round_trip = round_trip, .under_way = record_.bytes()}, now);
}

std::uint32_t SenderControl::ack_interval() const {
  const std::uint64_t bytes = std::min(allowed_.window / 4, allowed_.measured);
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(bytes / packet_bytes_, 1, 1u << 20));
}

SendRate SenderControl::rate(Time now) {
  allowed_ = algorithm_->allowance(now);
  return allowed_.rate;
}

}  // namespace urnic::transport
