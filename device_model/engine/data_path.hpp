// Carries out rounds: delivers arrived frames, runs timers, pumps the QPs that want to send, and carries out
// the action list while the next list fills.
//
// Has no thread, clock or doorbells: the engine's loop, or a test, passes the time in.
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
#include "device_model/engine/round/sole_sender.hpp"
#include "device_model/engine/round/uplinks.hpp"
#include "device_model/link/trunk_ports.hpp"
#include "device_model/transport/time.hpp"

namespace urnic::engine {

class DataPath final : public Round {
 public:
  DataPath() { failed_.reserve(256); }

  // Any thread: MemoryBatch::copying_with.
  pid_t copying_with() const { return memory_batch_.copying_with(); }
  void set_now(transport::Time now) { now_ = now; }
  // Read again where a round may take long enough to matter; null: only `set_now` sets the time.
  using Clock = transport::Time (*)();
  void set_clock(Clock clock) { clock_ = clock; }

  // One round: due timers, QPs that want to send, then all actions. The packets that arrive by this go into
  // the next round's list. False if there was nothing to do.
  bool round();
  void settle() override;
  // As `settle`, but without accesses to application memory. False: it stopped because there are some.
  bool settle_without_memory();
  // Takes back the frames that other engines have released. `round` does so, too; but an engine may have gone
  // to sleep before the others were ready with its last frames.
  void take_back_frames();
  // There is work without any new input.
  bool busy() const { return owes_batch() || !ready_.empty() || !touched_.empty(); }

  // From now on some region's memory may not answer, and may keep a copy waiting.
  void expect_waiting_memory() { memory_may_wait_ = true; }
  // Ends the wait of the QPs with accesses to these bytes of `memory`: the accesses fail. False: there are
  // none.
  bool forget_memory(const memory::ApplicationMemory& memory, std::uint64_t address, std::uint64_t length);
  // When there is work without any new input: a timer, a frame that arrives, a port that has room again.
  std::optional<transport::Time> wake_at() const;
  // Links or rates have changed: a port without room may have some now.
  void ports_changed() { room_at_ = {}; }
  // Carries the frames of its devices; outlives its use.
  void add_uplink(link::Uplink& uplink) { uplinks_.add(uplink); }
  // Connects to other engines; null: there are none. Outlives its use.
  void set_trunk_ports(link::TrunkPorts* trunk_ports) { trunk_ports_ = trunk_ports; }
  // Holds the payload that QPs send; outlives all their frames.
  transport::PayloadKeeper& staging() { return arenas_; }

  void end_wait(QueuePairContext& queue_pair) override;
  void forget_stall(const QueuePairContext& queue_pair) override { stalls_.drop(queue_pair); }

  // Ends a batch of inputs: asks the touched QPs what they want, raises the owed events.
  void end_inputs();
  // The engine has slept.
  void woken() { uplinks_.woken(); }
  // Event records that did not fit into their pipe.
  bool has_backlog() const { return notifications_.has_backlog(); }
  // Counted at each call.
  EnginePools pools() const;

 private:
  // How much a round may send, and deliver from links.
  link::Load round_limit() const;
  bool owes_batch() const;
  bool deliveries_come_first() const;
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
  void has_sent(QueuePairContext& queue_pair, std::uint32_t packets, std::uint32_t mtu);
  void carry_out();
  void reuse_arena_of(ActionList& list);
  void renew_arena(ActionList& list);
  [[gnu::cold]] bool finish_stalls();
  [[gnu::cold]] void finish(std::unique_ptr<MemoryStall> ended);
  static void finish_all(const std::vector<CompletionAction>& completions);
  void finish_completions(ActionList& list);
  void finish_sent(const ActionList& list);
  void report_failures(const ActionList& list, const std::vector<ActionStream*>& failed);
  void enters_link(const PacketAction& packet);
  void transmit_packets(ActionList& list);

  Clock clock_ = nullptr;
  MemoryBatch memory_batch_;
  MemoryStalls stalls_;
  // Ended stalls; the batch that is being filled may refer to their payload.
  std::vector<std::unique_ptr<MemoryStall>> ended_stalls_;
  std::vector<ActionStream*> failed_;
  std::array<transport::Time, 3> earlier_rounds_{};  // when they began, the latest first
  bool behind_ = false;                              // more is ready than the last round could send
  bool links_take_time_ = false;                     // in this round; settings of links change between rounds
  link::Load sent_;                                  // in this round, over links that take time
  DeliveryPace pace_;
  SoleSender sole_sender_;
  ReadyList port_is_busy_;     // ready but for their device's line, which is busy
  transport::Time room_at_{};  // the earliest time at which one of their ports has room
  Uplinks uplinks_;
  link::TrunkPorts* trunk_ports_ = nullptr;
};

}  // namespace urnic::engine
