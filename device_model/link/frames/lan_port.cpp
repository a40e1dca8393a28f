#include "device_model/link/frames/lan_port.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <utility>

#include "device_model/link/frames/frame_stream.hpp"
#include "wire/ethernet.hpp"
#include "wire/network_codec.hpp"

namespace urnic::link {

namespace {

// A peer that takes nothing for this long is not waited for: others on the switch have data to send.
constexpr transport::Nanoseconds kPatience{100'000'000};
// After so long the carrier may look for another peer; then once in each period.
constexpr transport::Nanoseconds kStall{10'000'000'000};
constexpr transport::Nanoseconds kStallPeriod{1'000'000'000};
// How often a device looks whether there is room again.
constexpr transport::Nanoseconds kRoomPeriod{100'000};

transport::Time steady_now() { return transport::Time(std::chrono::steady_clock::now().time_since_epoch()); }

std::uint32_t seed() { return static_cast<std::uint32_t>(steady_now().time_since_epoch().count() >> 10); }

}  // namespace

LanPort::LanPort(std::unique_ptr<FrameCarrier> carrier, std::optional<std::uint16_t> vlan,
                 std::function<void()> wake)
    : carrier_(std::move(carrier)),
      vlan_(vlan),
      discovery_(steady_now, wake),
      groups_(std::move(wake), seed()),
      connected_(carrier_->is_connected()) {
  outgoing_.reserve(2 * kMostWaitingBytes);
}

LanCounters LanPort::counters() const {
  LanCounters counters = counters_;
  counters.carrier = carrier_->counters();
  return counters;
}

std::optional<transport::Time> LanPort::last_received() const {
  return counters_.received_frames == 0 ? std::nullopt : std::optional(last_received_);
}

std::optional<transport::Time> LanPort::takes_nothing_since(transport::Time now) const {
  if (waiting() == 0 || now - last_sent_ <= kPatience) return {};
  return last_sent_;
}

std::optional<transport::Time> LanPort::next_due() const {
  std::optional<transport::Time> next = carrier_->next_due();
  const auto stall = waiting() == 0 ? std::nullopt : std::optional(stalls_at_);
  for (const auto due : {discovery_.next_due(), groups_.next_due(), stall})
    if (due && (!next || *due < *next)) next = due;
  return next;
}

void LanPort::take(Port& port, transport::Time now, const Load& most) {
  now_ = now;
  watch_peer(now);
  for (const std::span<std::byte> frame : carrier_->receive(now, most)) give(frame, port, now);
  connected_ = carrier_->is_connected();
  discovery_.run(now, *this);
  for (const auto& report : groups_.run(now)) {
    ++counters_.reports;
    send(report);
  }
  flush();
}

void LanPort::watch_peer(transport::Time now) {
  if (waiting() == 0) last_sent_ = now;
  if (now < last_sent_ + kStall) {
    stalls_at_ = last_sent_ + kStall;
  } else if (now >= stalls_at_) {
    stalls_at_ = now + kStallPeriod;
    carrier_->peer_stalls(now);
  }
}

// The frame as the devices know it, without the LAN's own tag; empty: it is of another VLAN. Tag 0 has a
// priority and no VLAN (IEEE 802.1Q 9.6).
std::optional<std::span<std::byte>> LanPort::as_devices_know_it(std::span<std::byte> frame) {
  if (!wire::has_vlan_tag(frame)) return vlan_ ? std::nullopt : std::optional(frame);
  const auto vlan =
      static_cast<std::uint16_t>(wire::load_be16(frame.data() + wire::kEthernetBytes) & wire::kVlanIdMask);
  if (!vlan_ && vlan != 0 && discovery_.is_in(vlan)) return frame;
  if (vlan != vlan_.value_or(0)) return {};
  std::memmove(frame.data() + wire::kVlanTagBytes, frame.data(), wire::kEtherTypeOffset);
  return frame.subspan(wire::kVlanTagBytes);
}

void LanPort::give(std::span<std::byte> frame, Port& port, transport::Time now) {
  ++counters_.received_frames;
  counters_.received_bytes += frame.size();
  last_received_ = now;
  ++given_;
  const auto known = as_devices_know_it(frame);
  if (!known) {
    ++counters_.other_vlan;
    return;
  }
  if (!discovery_.receive(*known, now, *this)) counters_.queries += groups_.receive(*known, now);
  const PacketOrigin origin{.identity = {.device = 0, .queue_pair = 0, .count = counters_.received_frames},
                            .queue_pair = kUnknownQpn,
                            .first_psn = {},
                            .selective_acks = transport::SelectiveAcks::outside,
                            .device = wire::load_mac(known->data() + wire::kMacBytes)};
  port.transmit({*known, {}, {}}, origin, now);
}

void LanPort::release() {
  given_ = 0;
  carrier_->release();
}

void LanPort::append(std::span<const std::byte> bytes) {
  outgoing_.insert(outgoing_.end(), bytes.begin(), bytes.end());
}

void LanPort::arrive(const wire::Frame& frame, const PacketOrigin&) {
  if (frame.headers.size() < wire::kEthernetBytes) return;
  if (!connected_) {
    ++counters_.unconnected;
    return;
  }
  const std::size_t size = frame.size() + (vlan_ ? wire::kVlanTagBytes : 0);
  if (waiting() + kLengthBytes + size > kMostWaitingBytes) {
    ++counters_.overruns;
    return;
  }
  std::array<std::byte, kLengthBytes> length;
  wire::store_be32(length.data(), static_cast<std::uint32_t>(size));
  append(length);
  append(frame.headers.first(wire::kEtherTypeOffset));
  if (vlan_) {
    std::array<std::byte, wire::kVlanTagBytes> tag;
    wire::store_be16(tag.data(), wire::ether_type::kVlan);
    wire::store_be16(tag.data() + 2, *vlan_);
    append(tag);
  }
  append(frame.headers.subspan(wire::kEtherTypeOffset));
  append(frame.payload);
  append(frame.trailer);
  ++counters_.sent_frames;
  counters_.sent_bytes += size;
}

// The carrier may have a part of a frame left, so it is called also without a new one.
void LanPort::flush() {
  const std::size_t done = carrier_->send(std::span<const std::byte>(outgoing_).subspan(sent_));
  if (done != 0) {
    sent_ += done;
    last_sent_ = now_;
  }
  connected_ = carrier_->is_connected();
  if (!connected_) sent_ = outgoing_.size();  // the peer for whom it was is lost
  if (sent_ == 0 || (waiting() != 0 && sent_ < kMostWaitingBytes)) return;
  outgoing_.erase(outgoing_.begin(), outgoing_.begin() + static_cast<std::ptrdiff_t>(sent_));
  sent_ = 0;
}

bool LanPort::has_room(transport::Time now) const {
  return waiting() < kFullBytes || now - last_sent_ > kPatience;
}

transport::Time LanPort::room_at() const {
  return waiting() < kFullBytes ? transport::Time{} : now_ + kRoomPeriod;
}

}  // namespace urnic::link
