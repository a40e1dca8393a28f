// Packets that arrived out of order, kept until their turn comes: one pool of slots for all QPs of an engine,
// and per QP the order of what it holds. Payload stays where it arrived if its host can keep it there
// (payload_keeper.hpp), else it is copied into the slot.
//
// A packet that is taken out of a QP's order is handed to the responder like one that has just arrived, and
// the host may keep the span of its payload until the batch is flushed (host.hpp). So a slot that is given
// back is only *retired*. The pool's owner calls `batch_flushed` once the host has carried out all actions so
// far: only this frees retired slots, whether their packets were executed, dropped, or belonged to a QP that
// is gone.
//
// With 1 % lost most packets are held for a moment, and by their turn the caches have forgotten their slots.
// So lists of slots are arrays of numbers, and a QP's order is a ring of them by PSN: to hold a packet
// touches no slot but its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "device_model/transport/host.hpp"
#include "device_model/transport/payload_keeper.hpp"
#include "device_model/transport/prefetch.hpp"
#include "wire/headers.hpp"
#include "wire/psn.hpp"

namespace urnic::transport {

// A packet in a slot.
class alignas(64) HeldPacket {
 public:
  wire::Psn first() const { return headers_.bth.psn; }
  // As it arrived; the payload is kept, or a copy in the slot.
  InboundPacket packet() const { return {headers_, payload_, congestion_experienced_}; }
  // From outside of this process: the packet may be anybody's.
  bool is_from_outside() const { return from_outside_; }

 private:
  friend class ReorderPool;
  wire::TransportHeaders headers_;
  std::span<const std::byte> payload_;
  bool congestion_experienced_ = false;
  bool from_outside_ = false;
  std::optional<PayloadKeeper::Place> kept_at_;
};

// Slots of fixed size, each for one packet with up to kSlotPayloadBytes of payload. Their memory is mapped
// once and touched when a slot is used for the first time: a pool that is not used costs address space only.
class ReorderPool {
 public:
  static constexpr std::size_t kSlotPayloadBytes = 4096;  // the largest path MTU

  // Room for `capacity` packets. `keeper`, which outlives the pool's use, may be null: then all payload is
  // copied. Throws std::system_error or std::bad_alloc if the memory cannot be mapped.
  explicit ReorderPool(std::uint32_t capacity, PayloadKeeper* keeper = nullptr);
  ~ReorderPool();
  ReorderPool(const ReorderPool&) = delete;
  ReorderPool& operator=(const ReorderPool&) = delete;

  std::uint32_t capacity() const { return capacity_; }
  // Slots that hold a packet or are retired.
  std::uint32_t in_use() const { return touched_ - free_count_; }
  // Most that one QP may hold: the half, or a single connection whose peer is gone would leave none.
  std::uint32_t most_per_queue_pair() const { return capacity_ / 2 + capacity_ % 2; }

  // Holds `packet`; the number of its slot, or empty if no slot is free.
  std::optional<std::uint32_t> take(const InboundPacket& packet);
  const HeldPacket& at(std::uint32_t slot) const { return packets_[slot]; }
  void prefetch(std::uint32_t slot) const { prefetch_object(packets_[slot]); }
  // The packet is not needed any more; its payload stays until the next `batch_flushed`.
  void retire(const HeldPacket& packet);
  // The host has carried out everything that was asked for until now: retired slots are free again.
  void batch_flushed();
  // There are retired slots.
  bool owes_flush() const { return retired_count_ != 0; }

 private:
  std::uint32_t number_of(const HeldPacket& packet) const {
    return static_cast<std::uint32_t>(&packet - packets_);
  }
  void hold_payload(std::uint32_t slot, std::span<const std::byte> payload);

  std::uint32_t capacity_;
  PayloadKeeper* keeper_;
  std::uint32_t touched_ = 0;  // slots that have been used at least once
  std::size_t mapped_bytes_ = 0;
  HeldPacket* packets_ = nullptr;  // apart from the payloads, which begin at pages
  std::byte* payloads_ = nullptr;
  // Numbers of slots. Of the free ones, the one used last is at the end, and is used again first.
  std::uint32_t free_count_ = 0;
  std::uint32_t retired_count_ = 0;
  std::unique_ptr<std::uint32_t[]> free_;
  std::unique_ptr<std::uint32_t[]> retired_;
};

// What one QP holds, in PSN order.
class ReorderBuffer {
 public:
  // A held packet covers these PSNs: a READ request as many as its response has packets.
  struct Extent {
    wire::Psn first;
    std::uint32_t psns;
  };

  // `pool` outlives this; null: nothing can be held. The first PSNs of all that is held lie within `window`,
  // which is at most half of the number space. Room for their order is allocated when the first is held.
  ReorderBuffer(ReorderPool* pool, std::uint32_t window) : pool_(pool), window_(window) {}
  ~ReorderBuffer() { clear(); }
  ReorderBuffer(const ReorderBuffer&) = delete;
  ReorderBuffer& operator=(const ReorderBuffer&) = delete;

  bool empty() const { return count_ == 0; }
  bool holds(wire::Psn first) const { return is_between(first) && place(first).slot != kNone; }
  // The first PSN of the first of them. Must not be empty.
  wire::Psn front() const { return front_; }
  // The last whose first PSN is not behind `psn`.
  std::optional<Extent> last_until(wire::Psn psn) const;

  // Bit i: PSN `latest` - 1 - i is the first one of a packet that is held.
  std::uint64_t firsts_before(wire::Psn latest) const;
  // One of them covers more than one PSN.
  bool any_wide() const { return wide_ != 0; }

  // Calls `act` with the Extent of each, in PSN order.
  template <typename Act>
  void for_each(Act act) const {
    if (empty()) return;
    for (wire::Psn psn = front_; !before(back_, psn); ++psn) {
      if (place(psn).slot != kNone) act(Extent{psn, place(psn).psns});
    }
  }

  // Keeps `packet`, whose PSN is not held yet and which covers `psns` PSNs. False if there is no room for it.
  bool hold(const InboundPacket& packet, std::uint32_t psns);
  // The one that begins at `first`; null: there is none.
  const HeldPacket* find(wire::Psn first) const {
    return holds(first) ? &pool_->at(place(first).slot - 1) : nullptr;
  }
  // Takes out the one that begins at `first`, which must be held. It is the caller's to `retire`.
  const HeldPacket& take(wire::Psn first);
  // Takes the first one out. Must not be empty. It is the caller's to `retire`.
  const HeldPacket& take_front();
  void retire(const HeldPacket& packet) { pool_->retire(packet); }
  // Gives all back.
  void clear();

 private:
  static constexpr std::uint32_t kNone = 0;
  struct Place {
    std::uint32_t slot = kNone;  // its number and one
    std::uint32_t psns = 0;
  };

  std::uint32_t mask() const;
  Place& place(wire::Psn psn) { return places_[psn.value() & mask()]; }
  const Place& place(wire::Psn psn) const { return places_[psn.value() & mask()]; }
  bool is_between(wire::Psn psn) const { return !empty() && !before(psn, front_) && !before(back_, psn); }

  ReorderPool* pool_;
  std::uint32_t window_;
  std::uint32_t count_ = 0;
  std::uint32_t wide_ = 0;  // those that cover more than one PSN
  wire::Psn front_;         // the first and the last PSN that are held, unless it is empty
  wire::Psn back_;
  std::unique_ptr<Place[]> places_;
};

}  // namespace urnic::transport
