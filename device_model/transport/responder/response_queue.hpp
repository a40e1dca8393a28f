// READ responses and atomic acknowledges that are owed, in PSN order: a duplicate of an earlier request is
// answered before anything later goes on (IBTA 9.7.5.1, C9-110). Their packets are made one by one, when
// there is room to send.
#pragma once

#include <cstdint>
#include <memory>

#include "device_model/transport/memory_access.hpp"
#include "wire/identifiers.hpp"
#include "wire/psn.hpp"

namespace urnic::transport {

struct PendingResponse {
  bool is_repeat = false;  // answers a duplicate request
  bool begun = false;      // its first packet has been sent
  wire::Psn next = {};     // of the packet to send next
  wire::Psn last = {};
  // READ: what is still to be sent.
  wire::Rkey rkey = {};
  PdId pd = {};  // in which the key is checked
  std::uint64_t address = 0;
  std::uint32_t remaining = 0;
  // ATOMIC: where its result is stored; null for a READ.
  const std::uint64_t* atomic_original = nullptr;
};

class ResponseQueue {
 public:
  // Repeats that wait at once. A requester that recovers read responses packet by packet asks for every gap
  // in them by itself: at 10 % loss some dozens at a time.
  static constexpr std::uint32_t kMostRepeats = 256;

  // Allocates for `most` first-time responses and as many repeats. Room for more repeats is made when it is
  // needed for the first time, by doubling: a few times in the life of a QP that loses many responses, and
  // never for any other.
  explicit ResponseQueue(std::uint32_t most);

  void clear();
  bool empty() const { return size_ == 0; }
  // First-time responses that are pending.
  std::uint32_t originals() const { return originals_; }
  std::uint32_t most() const { return most_; }
  // A first-time response is pending whose next packet comes at `psn` or before.
  bool holds_original_until(wire::Psn psn) const;

  // Behind all others; originals() must be below most().
  void push(const PendingResponse& response);
  // A repeat. Goes to its place by PSN; takes the place of a pending response that it covers to the end,
  // which the requester has asked for again (with its data from elsewhere on, perhaps). Nothing to do where a
  // pending response will bring all of it. False if there is no room: the request is dropped, as any packet
  // may be.
  bool repeat(const PendingResponse& response);
  // A repeat of a READ for a requester that takes responses in any order: only what no pending response will
  // bring, in pieces if need be. So nothing is sent twice because it was slow.
  bool repeat_missing(PendingResponse response, std::uint32_t path_mtu);

  PendingResponse& front() { return at(0); }
  const PendingResponse& front() const { return at(0); }
  void pop_front();
  // Forgets what comes at `psn` or later.
  void drop_from(wire::Psn psn);

 private:
  PendingResponse& at(std::uint32_t position) { return ring_[(head_ + position) & mask_]; }
  const PendingResponse& at(std::uint32_t position) const { return ring_[(head_ + position) & mask_]; }
  bool has_room_for_repeat();
  bool insert(std::uint32_t place, const PendingResponse& response);

  std::uint32_t most_;
  std::uint32_t mask_;
  std::unique_ptr<PendingResponse[]> ring_;
  std::uint32_t head_ = 0;
  std::uint32_t size_ = 0;
  std::uint32_t originals_ = 0;
};

}  // namespace urnic::transport
