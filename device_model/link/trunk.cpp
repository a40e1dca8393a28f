#include "device_model/link/trunk.hpp"

#include <cstring>

#include "device_model/link/frame_pool.hpp"

namespace urnic::link {

namespace {

// Copies `piece` to `to` and advances `to`; returns the copy.
std::span<const std::byte> append(std::byte*& to, std::span<const std::byte> piece) {
  if (!piece.empty()) std::memcpy(to, piece.data(), piece.size());
  const std::span<const std::byte> copy{to, piece.size()};
  to += piece.size();
  return copy;
}

}  // namespace

Trunk::Trunk(transport::PayloadKeeper* keeper)
    : slots_(std::make_unique<Slot[]>(kFrames)),
      whole_(new std::byte[kFrames * kSlotBytes]),
      keeper_(keeper) {}

bool Trunk::put(const FrameInFlight& flight, std::uint32_t from, std::uint32_t to, Onward onward,
                transport::Time now) {
  if (flight.frame.size() > kSlotBytes) return false;
  if (written_ - settled_seen_ == kFrames) reclaim();
  if (written_ - settled_seen_ == kFrames) return false;
  Slot& slot = at(written_);
  slot.passenger.origin = flight.origin;
  slot.passenger.sent = now;
  slot.passenger.from = from;
  slot.passenger.to = to;
  slot.passenger.onward = onward;
  slot.passenger.remarks = flight.remarks;
  load(slot, flight.frame);
  ++written_;
  return true;
}

void Trunk::load(Slot& slot, const wire::Frame& frame) {
  wire::pay_icrc(frame);
  slot.passenger.frame.link_layer = frame.link_layer;
  const bool lent = lend(slot, frame.payload);
  const std::size_t copied = frame.size() - (lent ? frame.payload.size() : 0);
  const auto index = static_cast<std::size_t>(&slot - slots_.get());
  std::byte* to = copied <= slot.bytes.size() ? slot.bytes.data() : whole_.get() + index * kSlotBytes;
  slot.passenger.frame.headers = append(to, frame.headers);
  slot.passenger.frame.payload = lent ? frame.payload : append(to, frame.payload);
  slot.passenger.frame.trailer = append(to, frame.trailer);
}

bool Trunk::lend(Slot& slot, std::span<const std::byte> payload) {
  slot.lent.reset();
  if (keeper_ == nullptr || payload.size() <= kShortPayloadBytes) return false;
  slot.lent = keeper_->keep(payload);
  if (slot.lent) lent_bytes_ += payload.size();
  return slot.lent.has_value();
}

bool Trunk::publish() {
  if (published_ == written_) return false;
  published_ = written_;
  head_.store(published_, std::memory_order_release);
  return true;
}

// Load `settled_` first: a slot is reused only after its payload was taken back.
void Trunk::reclaim() {
  const std::uint64_t settled = settled_.load(std::memory_order_acquire);
  const std::uint64_t released = released_.load(std::memory_order_acquire);
  for (; reclaimed_ != released; ++reclaimed_) {
    const Slot& slot = at(reclaimed_);
    if (!slot.lent) continue;
    keeper_->release(*slot.lent);
    lent_bytes_ -= slot.passenger.frame.payload.size();
  }
  settled_seen_ = settled;
}

std::optional<transport::Time> Trunk::oldest_unsettled() const {
  if (settled_seen_ == written_) return {};
  return at(settled_seen_).passenger.sent;
}

const Trunk::Passenger* Trunk::take() {
  if (taken_ == head_seen_) head_seen_ = head_.load(std::memory_order_acquire);
  if (taken_ == head_seen_) return nullptr;
  return &at(taken_++).passenger;
}

void Trunk::release() {
  if (released_.load(std::memory_order_relaxed) != taken_) {
    released_.store(taken_, std::memory_order_release);
  }
}

void Trunk::settle() {
  if (settled_.load(std::memory_order_relaxed) != to_settle_) {
    settled_.store(to_settle_, std::memory_order_release);
  }
  to_settle_ = released_.load(std::memory_order_relaxed);
}

std::optional<transport::Time> Trunk::oldest_untaken() const {
  if (taken_ == head_seen_) return {};
  return at(taken_).passenger.sent;
}

}  // namespace urnic::link
