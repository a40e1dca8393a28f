// The send requests that a requester holds, in a ring that is allocated once.
//
//      undoable ....... oldest ........ sending ........ taken
//      completed        sent, not       being sent,      (free)
//                       complete        or not begun
//
// Completed requests stay until their place is needed: a completion is final only when the host's batch has
// succeeded (host.hpp). The program reuses a queue entry only after it has seen the entry's completion, so it
// cannot overwrite a request whose completion is not final.
#pragma once

#include <cstdint>
#include <vector>

#include "device_model/transport/packet_number.hpp"
#include "device_model/transport/prefetch.hpp"
#include "device_model/transport/work_request.hpp"
#include "wire/identifiers.hpp"

namespace urnic::transport {

struct SendSlot {
  SendRequest request;
  PacketNumber first;         // its first packet
  std::uint32_t packets = 0;  // PSNs it takes; 0 for local operations
  wire::Msn message;          // its send sequence number (IBTA 9.7.7.2.2); local operations have none
  // The status of its completion, now or later. Anything but success stops the queue at this request.
  WorkStatus status = WorkStatus::success;
  bool asked_again = false;           // a READ of which a part was requested again
  bool reached_peer = false;          // a READ or atomic that the peer keeps until its turn comes
  bool answered = false;              // a READ of which a response has come: the peer has executed it
  PacketNumber repeat_end;            // behind the part of a READ that was requested again last
  std::uint64_t atomic_original = 0;  // what an atomic returned, in native order
  // Positions in the stream of actions (AccessTag::action).
  std::uint32_t last_send = 0;
  std::uint32_t last_write = 0;
  std::uint32_t completion = 0;

  PacketNumber end() const { return first + packets; }
  // Resets everything but the request and `atomic_original`, which the host may still have to write to memory
  // before its batch ends.
  void begin() {
    first = {};
    packets = 0;
    message = {};
    status = WorkStatus::success;
    asked_again = reached_peer = answered = false;
    repeat_end = {};
    last_send = last_write = completion = 0;
  }
};

class SendWindow {
 public:
  // Room for at least `slots` requests.
  explicit SendWindow(std::uint32_t slots);
  void clear();

  // Free-running indices into the send queue.
  std::uint32_t oldest() const { return oldest_; }
  std::uint32_t sending() const { return sending_; }
  std::uint32_t taken() const { return taken_; }
  bool none_incomplete() const { return oldest_ == taken_; }
  bool all_sent() const { return sending_ == taken_; }

  SendSlot& at(std::uint32_t index) { return slots_[index & mask_]; }
  const SendSlot& at(std::uint32_t index) const { return slots_[index & mask_]; }
  bool holds_incomplete(std::uint32_t index) const { return index - oldest_ < taken_ - oldest_; }

  // The request that has packet `number`, which must have been sent and belong to an incomplete request.
  // Constant time for the next packet in order, else logarithmic.
  std::uint32_t find(PacketNumber number);

  bool full() const { return taken_ - oldest_ > mask_; }
  // Prefetches the slot of the next request.
  void prefetch_next() const { prefetch_object(at(taken_)); }
  // Takes the next request of `queue`; null if there is none. Must not be full.
  SendSlot* take(SendQueue& queue);
  void sent_whole() { ++sending_; }
  // Nothing of the request at `index` or behind it is sent from now on.
  void stop_sending_at(std::uint32_t index) {
    if (index - oldest_ < sending_ - oldest_) sending_ = index;
  }
  void completed_oldest();
  // Takes back the completion of the newest completed request, while there is one.
  bool any_undoable() const { return oldest_ != undoable_; }
  void undo_completion() { --oldest_; }

 private:
  bool contains(std::uint32_t index, PacketNumber number) const {
    return at(index).first <= number && number < at(index).end();
  }

  std::vector<SendSlot> slots_;
  std::uint32_t mask_;
  std::uint32_t undoable_ = 0;
  std::uint32_t oldest_ = 0;
  std::uint32_t sending_ = 0;
  std::uint32_t taken_ = 0;
  std::uint32_t found_ = 0;  // last answer of `find`
};

}  // namespace urnic::transport
