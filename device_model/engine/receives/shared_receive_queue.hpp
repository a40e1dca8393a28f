// The device's end of a shared receive queue (IBTA 10.2.9): receive WQEs in shared memory that several QPs
// take. QPs complete them in any order, so WQEs lie in numbered slots. No doorbell: QPs look when they need a
// WQE.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "device_model/abi/queues.hpp"
#include "device_model/engine/completion/event_source.hpp"
#include "device_model/engine/rings/posted_shared_receives.hpp"
#include "device_model/engine/rings/shared_receive_ring.hpp"
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
  SharedReceiveRingConfig ring{};  // the memory of urnic's own face
  // The WQEs of another face, instead; null: urnic's own.
  std::shared_ptr<PostedSharedReceives> wqes{};
  EventPipe* async_events = nullptr;  // may be null
  std::uint64_t user_handle = 0;      // what asynchronous events carry

  // For extended reliable connections (IBTA annex A14): the domain whose target QPs may take WQEs, and the CQ
  // where they complete these. Null: the SRQ is for QPs created on it.
  XrcDomain* xrc_domain = nullptr;
  CompletionQueue* cq = nullptr;
  // As QueuePairConfig::several_processes.
  const bool* several_processes = nullptr;
};

class SharedReceiveQueue {
 public:
  // Any thread. Everything that `config` refers to outlives this, and this the QPs on it.
  explicit SharedReceiveQueue(const SharedReceiveQueueConfig& config);
  ~SharedReceiveQueue();  // engine thread, unless never installed; target QPs call `forget`
  SharedReceiveQueue(const SharedReceiveQueue&) = delete;
  SharedReceiveQueue& operator=(const SharedReceiveQueue&) = delete;

  // Engine thread only, from here on. Takes a number in the device; false if none is left.
  bool install();
  std::uint32_t number() const { return number_; }
  transport::PdId pd() const { return config_.pd; }
  const SharedReceiveQueueConfig& config() const { return config_; }
  // The program has written an impossible slot number: no WQE is taken any more.
  bool broken() const { return broken_; }
  // Sets `broken` and raises IBV_EVENT_SRQ_ERR.
  void break_down();

  // Takes the next WQE and returns its slot; false if none is posted. The request's segments are a private
  // copy, valid until `release` or `give_back`.
  bool take(transport::ReceiveRequest& request, std::uint32_t& slot);
  // The WQE was completed: its slot belongs to the program again.
  void release(std::uint32_t slot) { taken_slots_[slot] = 0; }
  // Gives an unused WQE back; it is taken next.
  void give_back(std::uint32_t slot);

  // Raises IBV_EVENT_SRQ_LIMIT_REACHED once, when fewer than `limit` WQEs are posted and not taken, possibly
  // at once. 0: never.
  void arm(std::uint32_t limit);
  // The limit set by `arm`; 0 after its event.
  std::uint32_t limit() const { return limit_; }

  // As SharedReceiveRing::grow; for urnic's own face only.
  void grow(const std::byte* slots, std::uint32_t* posted, std::uint32_t slot_count);

  // Asynchronous events raised since creation.
  EventsTold async_events() const { return {source_.number(), async_events_}; }

 private:
  void make_room(std::uint32_t slot_count);
  bool next_slot(std::uint32_t& slot);
  std::uint32_t available();
  void check_limit();
  void raise(std::uint32_t event);

  SharedReceiveQueueConfig config_;
  SharedReceiveRing own_;
  PostedSharedReceives& wqes_;  // the config's, or own_
  std::uint32_t number_ = 0;    // 0: not installed
  std::uint32_t limit_ = 0;
  std::uint32_t async_events_ = 0;
  EventSource source_;
  bool broken_ = false;
  std::vector<std::uint8_t> taken_slots_;  // 1: a QP has it
  std::vector<std::uint32_t> given_back_;  // room for all slots
};

}  // namespace urnic::engine
