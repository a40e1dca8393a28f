// The management datagrams of an engine's devices: what the control thread wants sent, and what has arrived
// for it. Each of the two threads wakes the other when there is something.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "device_model/engine/management/announcement.hpp"
#include "device_model/engine/management/datagram_ring.hpp"
#include "device_model/engine/management/management_datagram.hpp"
#include "device_model/transport/time.hpp"

namespace urnic::engine {

class ManagementQueuePair;

// Its constructor throws std::system_error.
class ManagementTraffic {
 public:
  // MADs that may wait for the control thread: in all, and of one device, so that a flood to one leaves room
  // for the others.
  static constexpr std::uint32_t kArrived = 1024;
  static constexpr std::uint32_t kArrivedOfDevice = kArrived / 2;

  // Before the engine starts. `queue_pair` outlives every use of this.
  void add(ManagementQueuePair& queue_pair);

  // Control thread. An eventfd that is readable when MADs have arrived.
  int arrival_descriptor() const { return arrival_.descriptor(); }
  // Makes it unreadable until the next MAD arrives. The caller then takes all MADs that have arrived.
  void expect_arrivals();
  // It does not become readable from `begin_look` to `end_look`; the caller then sees to what has arrived.
  // False: it is readable already.
  bool begin_look() { return arrival_.hold(); }
  void end_look() { arrival_.release(); }
  // Makes it readable: not all that had arrived was taken.
  void leave_the_rest() { arrival_.announce(); }
  // The MAD that has waited longest, or null. It stays until `taken`.
  const ArrivedDatagram* next_arrival() { return arrived_.front(); }
  void taken();
  // Whether fewer than half of those wait that may.
  bool has_room() const { return arrived_.is_half_empty(); }
  // After it posted MADs: the engine, once it is awake, sends them.
  void ring() { rung_.store(true); }

  // Engine thread. One load while nothing is to be sent.
  bool has_to_send(transport::Time now) const {
    return rung_.load(std::memory_order_relaxed) || (room_at_ && *room_at_ <= now);
  }
  // Sends what is queued, up to a limit. Returns whether something was sent.
  bool send();
  // When a port has room for MADs that wait for it; empty: none wait.
  std::optional<transport::Time> room_at() const { return room_at_; }
  // The entry for a MAD that arrived at `queue_pair`; null if there is no room for it.
  ArrivedDatagram* arrival_entry(const ManagementQueuePair& queue_pair);
  // Hands that entry to the control thread.
  void publish_arrival(ManagementQueuePair& queue_pair);

 private:
  // What a look at the queue pairs sends: several looks for a burst, so that programs' packets do not wait.
  static constexpr std::uint32_t kPerLook = 64;

  std::vector<ManagementQueuePair*> queue_pairs_;
  std::size_t next_ = 0;  // whose turn it is
  DatagramRing<ArrivedDatagram> arrived_{kArrived};
  Announcement arrival_{"management datagrams: eventfd"};
  std::atomic<bool> rung_{false};
  std::optional<transport::Time> room_at_;
};

}  // namespace urnic::engine
