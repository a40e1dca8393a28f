#include "device_model/link/egress_queue.hpp"

#include <algorithm>
#include <cmath>

namespace urnic::link {

namespace {

constexpr std::uint64_t kPicosecondsPerNanosecond = 1000;

std::uint64_t picoseconds_per_byte(double rate_gbps) {
  if (rate_gbps <= 0) return 0;
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(8000 / rate_gbps)));
}

}  // namespace

EgressQueue::EgressQueue(const LinkSettings& settings)
    : picoseconds_per_byte_(picoseconds_per_byte(settings.rate_gbps)),
      queue_packets_(std::max(settings.queue_packets, 1u)),
      packets_(has_rate() ? queue_packets_ : 0) {}

std::uint32_t EgressQueue::waiting(transport::Time now) {
  while (waiting_ != 0 && packets_[first_].begins <= now) {
    leaving_bytes_ = packets_[first_].bytes;
    waiting_bytes_ -= leaving_bytes_;
    first_ = first_ + 1 == packets_.size() ? 0 : first_ + 1;
    --waiting_;
  }
  return waiting_;
}

std::uint64_t EgressQueue::bytes(transport::Time now) {
  if (waiting(now) == 0 && clear_at_ <= now) return 0;
  return waiting_bytes_ + leaving_bytes_;
}

void EgressQueue::hold(transport::Time now, transport::Time time) {
  if (time <= std::max(now, clear_at_)) return;
  if (clear_at_ <= now) leaving_bytes_ = 0;
  clear_at_ = time;
  clear_fraction_ = 0;
}

// From the last packet on: the first that is too many must have left.
transport::Time EgressQueue::shrunk_at(std::uint64_t bytes) const {
  std::uint64_t behind = 0;
  transport::Time left = clear_at_;
  for (std::uint32_t i = waiting_; i != 0; --i) {
    const Waiting& packet = packets_[(first_ + i - 1) % packets_.size()];
    behind += packet.bytes;
    if (behind > bytes) return left;
    left = packet.begins;
  }
  return behind + leaving_bytes_ > bytes ? left : transport::Time{};
}

transport::Time EgressQueue::accept(transport::Time now, std::uint32_t bytes) {
  if (!has_rate()) return now;
  if (clear_at_ <= now) {
    if (clear_at_ < now) clear_fraction_ = 0;
    clear_at_ = now;
    leaving_bytes_ = bytes;
  } else {
    packets_[(first_ + waiting_) % packets_.size()] = {clear_at_, bytes};
    ++waiting_;
    waiting_bytes_ += bytes;
  }
  clear_fraction_ += (std::uint64_t{bytes} + kEthernetOverheadBytes) * picoseconds_per_byte_;
  clear_at_ += transport::Nanoseconds(static_cast<std::int64_t>(clear_fraction_ / kPicosecondsPerNanosecond));
  clear_fraction_ %= kPicosecondsPerNanosecond;
  return clear_at_;
}

transport::Nanoseconds EgressQueue::time_of(std::size_t bytes) const {
  return transport::Nanoseconds(static_cast<std::int64_t>(
      (bytes * picoseconds_per_byte_ + kPicosecondsPerNanosecond - 1) / kPicosecondsPerNanosecond));
}

std::size_t EgressQueue::bytes_in(transport::Nanoseconds span) const {
  if (!has_rate() || span.count() <= 0) return 0;
  return static_cast<std::size_t>(static_cast<std::uint64_t>(span.count()) * kPicosecondsPerNanosecond /
                                  picoseconds_per_byte_);
}

}  // namespace urnic::link
