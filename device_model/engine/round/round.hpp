// What a round offers its queue pairs, shared receive queues and devices: the time, the action list that is
// being filled, a place among those to ask or to pump, timers, and completions.
//
// `DataPath` is the only implementation; participants know only this interface.
#pragma once

#include <array>
#include <cstdint>

#include "device_model/engine/batch/action_list.hpp"
#include "device_model/engine/batch/staging_arenas.hpp"
#include "device_model/engine/completion/notifications.hpp"
#include "device_model/engine/round/participant.hpp"
#include "device_model/engine/round/timers.hpp"
#include "device_model/transport/responder/reorder_buffer.hpp"
#include "device_model/transport/time.hpp"

namespace urnic::engine {

class QueuePairContext;

class Round {
 public:
  transport::Time now() const { return now_; }
  // The list to which actions are added.
  ActionList& filling() { return lists_[filling_]; }
  const ActionList& filling() const { return lists_[filling_]; }

  // The participant had an input: its `after_input` runs before the round ends.
  void touch(Participant& participant) {
    if (!participant.touched_hook.is_linked()) touched_.push_back(participant);
  }
  // The participant has data to send, and is pumped in its turn.
  void want_pump(Participant& participant) {
    if (participant.ready_hook.is_linked()) return;
    participant.aside_for_pace = false;
    participant.ready_since = now_;
    ready_.push_back(participant);
  }
  // The participant has data to send that should not wait for its turn.
  void want_urgent_pump(Participant& participant) {
    if (!participant.urgent_hook.is_linked()) urgent_.push_back(participant);
  }
  // A participant that wants to be pumped has a NAK about a hole to send.
  void hole_to_tell() { hole_to_tell_ = true; }

  // Some region's memory may keep a copy waiting (memory_stall.hpp).
  bool memory_may_wait() const { return memory_may_wait_; }

  Notifications& notifications() { return notifications_; }
  Timers& timers() { return timers_; }
  // The reorder buffer of the engine's QPs. Its batches are this object's rounds.
  transport::ReorderPool& reorder_pool() { return reorder_pool_; }

  // Ends the QP's wait for memory: its accesses fail.
  virtual void end_wait(QueuePairContext& queue_pair) = 0;
  // Ends the wait of a QP that is being destroyed, without telling the QP.
  virtual void forget_stall(const QueuePairContext& queue_pair) = 0;
  // Runs rounds without new requests until nothing is under way, so that objects can be changed.
  virtual void settle() = 0;

 protected:
  Round();
  ~Round() = default;
  Round(const Round&) = delete;
  Round& operator=(const Round&) = delete;

  transport::Time now_{};
  StagingArenas arenas_;
  std::array<ActionList, 2> lists_;
  std::uint32_t filling_ = 0;
  std::uint64_t list_number_ = 0;
  transport::ReorderPool reorder_pool_;
  Notifications notifications_;
  Timers timers_;
  TouchedList touched_;
  ReadyList ready_;
  UrgentList urgent_;
  bool hole_to_tell_ = false;
  bool memory_may_wait_ = false;
};

}  // namespace urnic::engine
