// Packets that arrived out of order, kept until their turn comes: one pool of slots for all QPs of an engine,
// and per QP the order of what it holds. Payload stays where it arrived if its host can keep it there
// (payload_keeper.hpp), else it is copied into the slot.
//
// A packet that is taken out of a QP's order is handed to the responder like one that has just arrived, and
// the host may keep the span of its payload until the batch is flushed (host.hpp). So a slot that is given
// back is only *retired*. The pool's owner calls `batch_flushed` once the host has carried out all actions so
// far: only this frees retired slots, whether their packets were executed, dropped, or belonged to a QP that
// is gone.
#pragma once

#include <boost/intrusive/set.hpp>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "device_model/transport/host.hpp"
#include "device_model/transport/payload_keeper.hpp"
#include "wire/headers.hpp"
#include "wire/psn.hpp"

namespace urnic::transport {

class ReorderPool;

using HeldPacketHook =
    boost::intrusive::set_base_hook<boost::intrusive::link_mode<boost::intrusive::normal_link>,
                                    boost::intrusive::optimize_size<true>>;

// A packet in a slot. Its first PSN is the one in its BTH; a READ request covers as many more as its response
// has packets.
class HeldPacket : public HeldPacketHook {
 public:
  wire::Psn first() const { return headers_.bth.psn; }
  std::uint32_t psns() const { return psns_; }
  // As it arrived; the payload is kept, or a copy in the slot.
  InboundPacket packet() const { return {headers_, payload_, congestion_experienced_}; }

  // What the order of `ReorderBuffer` goes by.
  friend bool operator<(const HeldPacket& a, const HeldPacket& b) { return before(a.first(), b.first()); }

 private:
  friend class ReorderPool;
  wire::TransportHeaders headers_;
  std::span<const std::byte> payload_;
  bool congestion_experienced_ = false;
  std::uint32_t psns_ = 1;
  std::uint32_t index_ = 0;  // of the slot
  std::optional<PayloadKeeper::Place> kept_at_;
  HeldPacket* next_unused_ = nullptr;  // in the pool's list of free or of retired slots
};

// Slots of fixed size, each for one packet with up to kSlotPayloadBytes of payload. Their memory is mapped
// once and touched when a slot is used for the first time: a pool that is not used costs address space only.
class ReorderPool {
 public:
  static constexpr std::size_t kSlotPayloadBytes = 4096;  // the largest path MTU

  // Room for `capacity` packets. `keeper`, which outlives the pool's use, may be null: then all payload is
  // copied. Throws std::system_error if the memory cannot be mapped.
  explicit ReorderPool(std::uint32_t capacity, PayloadKeeper* keeper = nullptr);
  ~ReorderPool();
  ReorderPool(const ReorderPool&) = delete;
  ReorderPool& operator=(const ReorderPool&) = delete;

  std::uint32_t capacity() const { return capacity_; }
  // Slots that hold a packet or are retired.
  std::uint32_t in_use() const { return in_use_; }
  // Most that one QP may hold: the half, or a single connection whose peer is gone would leave none.
  std::uint32_t most_per_queue_pair() const { return capacity_ / 2 + capacity_ % 2; }

  // Holds `packet`, which covers `psns` PSNs; null if no slot is free.
  HeldPacket* take(const InboundPacket& packet, std::uint32_t psns);
  // The packet is not needed any more; its payload stays until the next `batch_flushed`.
  void retire(HeldPacket& packet);
  // The host has carried out everything that was asked for until now: retired slots are free again.
  void batch_flushed();
  // There are retired slots.
  bool owes_flush() const { return retired_ != nullptr; }

 private:
  std::byte* payload_of(const HeldPacket& packet) const {
    return payloads_ + packet.index_ * kSlotPayloadBytes;
  }

  void hold_payload(HeldPacket& slot, std::span<const std::byte> payload);

  std::uint32_t capacity_;
  PayloadKeeper* keeper_;
  std::uint32_t in_use_ = 0;
  std::uint32_t retired_count_ = 0;
  std::uint32_t touched_ = 0;  // slots that have been used at least once
  std::size_t mapped_bytes_ = 0;
  HeldPacket* packets_ = nullptr;  // apart from the payloads: a search for a PSN reads these only
  std::byte* payloads_ = nullptr;
  HeldPacket* free_ = nullptr;  // the one used last is used again first
  HeldPacket* retired_ = nullptr;
};

// What one QP holds, in PSN order. All of it lies within half of the number space. Empty it is five words.
class ReorderBuffer {
 public:
  // `pool` outlives this; null: nothing can be held.
  explicit ReorderBuffer(ReorderPool* pool) : pool_(pool) {}
  ~ReorderBuffer() { clear(); }
  ReorderBuffer(const ReorderBuffer&) = delete;
  ReorderBuffer& operator=(const ReorderBuffer&) = delete;

  bool empty() const { return packets_.empty(); }
  bool holds(wire::Psn first) const;
  // The first of them in PSN order, or null.
  const HeldPacket* front() const { return packets_.empty() ? nullptr : &*packets_.begin(); }
  // The last whose first PSN is not behind `psn`, and the one before `packet`; or null.
  const HeldPacket* last_until(wire::Psn psn) const;
  const HeldPacket* before_it(const HeldPacket& packet) const;

  // Calls `act` with each, in PSN order.
  template <typename Act>
  void for_each(Act act) const {
    for (const HeldPacket& packet : packets_) act(packet);
  }

  // Keeps `packet`, whose PSN is not held yet. False if there is no room for it.
  bool hold(const InboundPacket& packet, std::uint32_t psns);
  // Takes the first one out. Must not be empty. It is the caller's to `retire`.
  HeldPacket& take_front();
  void retire(HeldPacket& packet) { pool_->retire(packet); }
  // Gives all back.
  void clear();

 private:
  // Compares a PSN with a held packet.
  struct ByFirst {
    bool operator()(wire::Psn psn, const HeldPacket& packet) const { return before(psn, packet.first()); }
    bool operator()(const HeldPacket& packet, wire::Psn psn) const { return before(packet.first(), psn); }
  };
  using Ordered = boost::intrusive::set<HeldPacket, boost::intrusive::base_hook<HeldPacketHook>,
                                        boost::intrusive::constant_time_size<true>>;

  ReorderPool* pool_;
  Ordered packets_;
};

}  // namespace urnic::transport
