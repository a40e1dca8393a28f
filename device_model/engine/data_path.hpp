// Carries out rounds: pumps the QPs that want to send, carries out the action list, and lets the next list
// fill; delivers what has arrived, runs timers.
//
// No thread, no clock, no doorbells: the engine's loop hands in the time, tests do too.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "device_model/engine/batch/memory_batch.hpp"
#include "device_model/engine/queue_pair/memory_stalls.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "device_model/engine/round/delivery_pace.hpp"
#include "device_model/engine/round/engine_pools.hpp"
#include "device_model/engine/round/round.hpp"
#include "device_model/engine/round/uplinks.hpp"
#include "device_model/link/junction.hpp"
#include "device_model/transport/time.hpp"

namespace urnic::engine {

class Device;

class DataPath final : public Round {
 public:
  DataPath() { failed_.reserve(256); }

  // Any thread: MemoryBatch::copying_with.
  pid_t copying_with() const { return memory_batch_.copying_with(); }
  void set_now(transport::Time now) { now_ = now; }
  // Asked for the time again where a round takes longer than it may matter; null: only `set_now` moves it.
  using Clock = transport::Time (*)();
  void set_clock(Clock clock) { clock_ = clock; }

  // One round: due timers, QPs that want to send, then everything they asked for. What that brings about
  // (packets that arrived) is in the list for the next round. False if there was nothing to do.
  bool round();
  void settle() override;
  // Something is left to do without any new input.
  bool busy() const { return owes_batch() || !ready_.empty() || !touched_.empty(); }

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
  // What carries the frames of its devices; outlives its use.
  void add_uplink(link::Uplink& uplink) { uplinks_.add(uplink); }
  // The way to and from other engines; null: there are none. Outlives its use.
  void set_junction(link::Junction* junction) { junction_ = junction; }
  // Where payload lies that QPs send; outlives every frame of theirs.
  transport::PayloadKeeper& staging() { return arenas_; }

  // A device whose QPs take part; outlives its use.
  void add_device(const Device& device) { devices_.push_back(&device); }

  const QpTable* queue_pairs_at(const wire::MacAddress& address) const override;
  void end_wait(QueuePairContext& queue_pair) override;
  void forget_stall(const QueuePairContext& queue_pair) override { stalls_.drop(queue_pair); }

  // Ends a batch of inputs: asks the touched QPs what they want, raises the events that are owed.
  void end_inputs();
  // Event records that their pipe did not take yet.
  bool has_backlog() const { return notifications_.has_backlog(); }
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

  Clock clock_ = nullptr;
  MemoryBatch memory_batch_;
  bool memory_may_wait_ = false;
  MemoryStalls stalls_;
  // Ended; the batch that is being filled may refer to their payload.
  std::vector<std::unique_ptr<MemoryStall>> ended_stalls_;
  std::vector<ActionStream*> failed_;
  std::array<transport::Time, 3> earlier_rounds_{};  // when they began, the latest first
  bool behind_ = false;                              // more is ready than the last round could send
  link::Load sent_;                                  // in this round, over links that take time
  DeliveryPace pace_;
  ReadyList port_is_busy_;     // would be ready, but their device's line is behind
  transport::Time room_at_{};  // the earliest time at which one of their ports has room
  Uplinks uplinks_;
  link::Junction* junction_ = nullptr;
  std::vector<const Device*> devices_;
};

}  // namespace urnic::engine
