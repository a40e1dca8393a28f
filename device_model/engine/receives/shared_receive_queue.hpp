// The device's end of a shared receive queue (IBTA 10.2.9): receive WQEs in shared memory that several QPs
// take from. QPs use them up in no order, so they lie in slots with numbers, and a ring says in which order
// they were posted (abi/queues.hpp: SharedReceiveIndices). No doorbell: QPs look when they need a WQE.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "device_model/abi/queues.hpp"
#include "device_model/engine/rings/slot_copies.hpp"
#include "device_model/transport/memory_access.hpp"
#include "device_model/transport/work_request.hpp"

namespace urnic::engine {

class CompletionQueue;
struct DeviceResources;
class EventPipe;
class XrcDomain;

struct SharedReceiveQueueConfig {
  const DeviceResources* device = nullptr;
  transport::PdId pd;
  const std::byte* slots = nullptr;
  const std::uint32_t* posted = nullptr;  // the ring of slot numbers
  std::uint32_t slot_count = 0;           // of both, a power of two
  std::uint32_t slot_size = 0;            // at least a WQE's head
  const std::atomic<std::uint32_t>* producer = nullptr;
  EventPipe* async_events = nullptr;  // may be null
  std::uint64_t user_handle = 0;      // what asynchronous events carry

  // Of extended reliable connections (IBTA annex A14): whose target QPs may take from it, and where they
  // complete what they took. Null: it is for QPs that are made on it.
  XrcDomain* xrc_domain = nullptr;
  CompletionQueue* cq = nullptr;
  // As QueuePairConfig::several_processes.
  const bool* several_processes = nullptr;
};

class SharedReceiveQueue {
 public:
  // Any thread. Everything that `config` refers to outlives this, and this the QPs on it.
  explicit SharedReceiveQueue(const SharedReceiveQueueConfig& config);
  ~SharedReceiveQueue();  // engine thread, unless never installed; target QPs forget it
  SharedReceiveQueue(const SharedReceiveQueue&) = delete;
  SharedReceiveQueue& operator=(const SharedReceiveQueue&) = delete;

  // Engine thread only, from here on. Gives it its number in the device; false if none is left.
  bool install();
  std::uint32_t number() const { return number_; }
  transport::PdId pd() const { return config_.pd; }
  const SharedReceiveQueueConfig& config() const { return config_; }
  // The program has written what cannot be: no WQE is taken any more.
  bool broken() const { return broken_; }
  // From now on it is. Raises IBV_EVENT_SRQ_ERR.
  void break_down();

  // Takes the next WQE, and says in which slot it was; false if none is posted. The request's segments are a
  // private copy that stays until `release` or `give_back`.
  bool take(transport::ReceiveRequest& request, std::uint32_t& slot);
  // The WQE was completed: its slot is the program's again.
  void release(std::uint32_t slot) { taken_slots_[slot] = 0; }
  // The WQE was not used and will be taken next.
  void give_back(std::uint32_t slot);

  // Raises IBV_EVENT_SRQ_LIMIT_REACHED once, as soon as fewer than `limit` WQEs are posted and not taken,
  // which may be now. 0: not at all.
  void arm(std::uint32_t limit);
  // What `arm` set, until the event was raised.
  std::uint32_t limit() const { return limit_; }

  // Goes on in larger memory, to which the slots have been copied; the ring's words are moved here.
  void grow(const std::byte* slots, std::uint32_t* posted, std::uint32_t slot_count);

  // Raised since it was made.
  std::uint32_t async_events() const { return async_events_; }

 private:
  bool next_slot(std::uint32_t& slot);
  std::uint32_t available();
  bool look();
  void check_limit();
  void raise(std::uint32_t event);
  void add_copies(std::uint32_t first_slot, std::uint32_t slot_count);
  std::uint32_t room() const {
    return config_.slot_size - static_cast<std::uint32_t>(sizeof(abi::ReceiveWqe));
  }

  // Copies of the slots from `first` on, up to the next ones': they stay where they are when more are added.
  struct Copies {
    std::uint32_t first;
    SlotCopies copies;
  };

  SharedReceiveQueueConfig config_;
  std::uint32_t number_ = 0;  // 0: not installed
  std::uint32_t producer_ = 0;
  std::uint32_t taken_ = 0;
  std::uint32_t limit_ = 0;
  std::uint32_t async_events_ = 0;
  bool broken_ = false;
  std::vector<std::uint8_t> taken_slots_;  // 1: a QP has it
  std::vector<std::uint32_t> given_back_;  // with room for all
  std::vector<Copies> copies_;
};

}  // namespace urnic::engine
