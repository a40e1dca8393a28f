// READ responses and atomic acknowledges that are owed, in PSN order: a duplicate of an earlier request is
// answered before anything later goes on (IBTA 9.7.5.1, C9-110). Their packets are made one by one, when
// there is room to send.
#pragma once

#include <cstdint>
#include <vector>

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
  std::uint64_t address = 0;
  std::uint32_t remaining = 0;
  // ATOMIC: where its result is stored; null for a READ.
  const std::uint64_t* atomic_original = nullptr;
};

class ResponseQueue {
 public:
  // Allocates for `most` first-time responses and as many repeats.
  explicit ResponseQueue(std::uint32_t most);

  void clear();
  bool empty() const { return size_ == 0; }
  // First-time responses that are pending.
  std::uint32_t originals() const { return originals_; }
  std::uint32_t most() const { return most_; }

  // Behind all others; originals() must be below most().
  void push(const PendingResponse& response);
  // A repeat. Goes to its place by PSN; takes the place of a pending response that ends with the same PSN,
  // which the requester has asked for again (with its data from elsewhere on, perhaps). Dropped, as any
  // packet may be, when there is no room.
  void repeat(const PendingResponse& response);

  PendingResponse& front() { return at(0); }
  void pop_front();
  // Forgets what comes at `psn` or later.
  void drop_from(wire::Psn psn);

 private:
  PendingResponse& at(std::uint32_t position) { return ring_[(head_ + position) & mask_]; }

  std::uint32_t most_;
  std::vector<PendingResponse> ring_;
  std::uint32_t mask_;
  std::uint32_t head_ = 0;
  std::uint32_t size_ = 0;
  std::uint32_t originals_ = 0;
};

}  // namespace urnic::transport
