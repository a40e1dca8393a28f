// The part of the engine that queue pairs, devices and completion queues work with: the action lists and the
// rounds that carry them out, the QPs that want to send, the timers.
//
// No thread, no clock, no doorbells: the engine's loop hands in the time, tests do too.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "device_model/engine/batch/action_list.hpp"
#include "device_model/engine/batch/memory_batch.hpp"
#include "device_model/engine/batch/staging_arenas.hpp"
#include "device_model/engine/completion/completion_queue.hpp"
#include "device_model/engine/completion/event_pipe.hpp"
#include "device_model/engine/queue_pair/memory_stalls.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "device_model/engine/round/delivery_pace.hpp"
#include "device_model/engine/round/engine_pools.hpp"
#include "device_model/engine/round/timers.hpp"
#include "device_model/link/frames_under_way.hpp"
#include "device_model/link/junction.hpp"
#include "device_model/transport/responder/held_packets.hpp"
#include "device_model/transport/time.hpp"

namespace urnic::engine {

class Device;

class DataPath {
 public:
  DataPath();

  transport::Time now() const { return now_; }
  // Any thread: MemoryBatch::copying_with.
  pid_t copying_with() const { return memory_batch_.copying_with(); }
  void set_now(transport::Time now) { now_ = now; }
  // Asked for the time again where a round takes longer than it may matter; null: only `set_now` moves it.
  using Clock = transport::Time (*)();
  void set_clock(Clock clock) { clock_ = clock; }

  // One round: due timers, QPs that want to send, then everything they asked for. What that brings about
  // (packets that arrived) is in the list for the next round. False if there was nothing to do.
  bool round();
  // Rounds without new packets to send until nothing is under way, so that objects can be changed.
  void settle();
  // Something is left to do without any new input.
  bool busy() const { return owes_batch() || !ready_.empty() || !touched_.empty(); }

  // Where the engine's QPs keep what arrives out of order. Its batches are this object's rounds.
  transport::HeldPacketPool& held_packets() { return held_packets_; }
  Timers& timers() { return timers_; }
  // From now on some region's memory may keep whoever copies from or to it waiting.
  void expect_waiting_memory() { memory_may_wait_ = true; }
  // Ends the wait of the QPs that have to do with these bytes of `memory`: their accesses fail. False: there
  // is none.
  bool forget_memory(const memory::ApplicationMemory& memory, std::uint64_t address, std::uint64_t length);
  // When there is something to do without any new input: a timer, a frame that arrives, a port that has room
  // again.
  std::optional<transport::Time> wake_at() const;
  // Links or rates have changed: a port that had no room may have some now.
  void ports_changed() { room_at_ = {}; }
  // Frames that come from links in their own time; null: there are none. Outlives its use.
  void set_frames_under_way(link::FramesUnderWay* frames) { frames_under_way_ = frames; }
  // The way to and from other engines; null: there are none. Outlives its use.
  void set_junction(link::Junction* junction) { junction_ = junction; }
  // Where payload lies that QPs send; outlives every frame of theirs.
  transport::PayloadKeeper& staging() { return arenas_; }

  // A device whose QPs these are; outlives its use.
  void add_device(const Device& device) { devices_.push_back(&device); }
  // Null: it is none of them.
  const Device* device_with(const wire::MacAddress& address) const;

  // For QPs. The list that actions are added to.
  ActionList& filling() { return lists_[filling_]; }
  const ActionList& filling() const { return lists_[filling_]; }
  void want_pump(QueuePairContext& queue_pair);
  // The QP, which wants to be pumped, has something to send that should not wait for its turn.
  void want_urgent_pump(QueuePairContext& queue_pair);
  // A QP that wants to be pumped has to tell its peer of a hole.
  void hole_to_tell() { hole_to_tell_ = true; }
  // The QP had an input: `after_input` is owed to it.
  void touch(QueuePairContext& queue_pair) {
    if (!queue_pair.touched_hook.is_linked()) touched_.push_back(queue_pair);
  }
  // A CQE was added: an event may be owed.
  void added_to(CompletionQueue& queue, bool first_in_batch);
  // Something was written to a pipe that may not have taken it.
  void wrote_to(EventPipe& pipe);

  // The QP, which waits for memory, does so no longer: its accesses fail.
  void end_wait(QueuePairContext& queue_pair);
  // The same, and nobody is told: the QP goes.
  void forget_stall(const QueuePairContext& queue_pair) { stalls_.drop(queue_pair); }

  // Ends a batch of inputs: asks the touched QPs what they want, raises the events that are owed.
  void end_inputs();
  // Event records that their pipe did not take yet.
  bool has_backlog() const { return !backlog_.empty(); }
  // Counted at each call.
  EnginePools pools() const;

 private:
  // What a round may send, and deliver of what is under way.
  link::Load round_limit() const;
  bool owes_batch() const;
  bool deliveries_come_first() const;
  bool links_take_time() const;
  void run_timers();
  transport::Time time_for_timers();
  link::Load deliver_due();
  bool take_from_other_engines();
  void exchange_with_other_engines();
  bool tell_of_holes();
  void pump_urgent();
  void pump_ready();
  void pump_again_when_ports_have_room();
  std::uint32_t fit_into_port(QueuePairContext& queue_pair, std::uint32_t turn, std::uint32_t mtu);
  void carry_out();
  [[gnu::cold]] bool finish_stalls();
  [[gnu::cold]] void finish(std::unique_ptr<MemoryStall> ended);
  void finish_completions(ActionList& list);
  void report_failures(const ActionList& list, const std::vector<ActionStream*>& failed);
  void enters_link(const PacketAction& packet);
  void transmit_packets(ActionList& list);
  void notify_queues();
  void retry_backlog();
  void raise_late_events();

  transport::Time now_{};
  Clock clock_ = nullptr;
  StagingArenas arenas_;
  std::array<ActionList, 2> lists_;
  std::uint32_t filling_ = 0;
  std::uint64_t list_number_ = 0;
  MemoryBatch memory_batch_;
  bool memory_may_wait_ = false;
  MemoryStalls stalls_;
  // Ended; the batch that is being filled may refer to their payload.
  std::vector<std::unique_ptr<MemoryStall>> ended_stalls_;
  transport::HeldPacketPool held_packets_;
  std::vector<ActionStream*> failed_;
  Timers timers_;
  std::array<transport::Time, 3> earlier_rounds_{};  // when they began, the latest first
  ReadyList ready_;
  UrgentList urgent_;
  bool behind_ = false;  // more is ready than the last round could send
  bool hole_to_tell_ = false;
  link::Load sent_;  // in this round, over links that take time
  DeliveryPace pace_;
  ReadyList port_is_busy_;     // would be ready, but their device's line is behind
  transport::Time room_at_{};  // the earliest time at which one of their ports has room
  link::FramesUnderWay* frames_under_way_ = nullptr;
  link::Junction* junction_ = nullptr;
  TouchedList touched_;
  std::vector<const Device*> devices_;
  std::vector<CompletionQueue*> to_notify_;
  CompletionQueueList putting_off_;  // those that raise an event later
  EventPipeList backlog_;
};

}  // namespace urnic::engine
