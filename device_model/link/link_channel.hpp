// One direction of a link, carrying frames: asks the fault plan and LinkDirection what becomes of each, makes
// the changes, and keeps copies of what is under way. A frame that nothing delays or changes is handed on at
// once, without a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "device_model/link/due_queue.hpp"
#include "device_model/link/fault_hook.hpp"
#include "device_model/link/frame_pool.hpp"
#include "device_model/link/link_counters.hpp"
#include "device_model/link/link_direction.hpp"
#include "device_model/link/traveller.hpp"

namespace urnic::link {

class Link;

class LinkChannel {
 public:
  // Makes room for the frames under way, here and never again. `link` and `guide` outlive it.
  LinkChannel(Link& link, Direction direction, TravelGuide& guide);

  // From now on; what is under way stays so. Allocates.
  void configure(const LinkSettings& settings);
  const LinkSettings& settings() const { return model_.settings(); }
  void set_faults(FaultHook* faults) { faults_ = faults; }

  void enter(Traveller& traveller, transport::Time now);
  // Hands on at most `most` frames that are due; how many there were.
  std::size_t deliver_due(transport::Time now, std::size_t most);
  std::optional<transport::Time> next_due() const { return under_way_.earliest(); }
  bool empty() const { return under_way_.empty(); }

  const LinkDirection& model() const { return model_; }
  const LinkCounters& counters() const { return counters_; }

 private:
  // Most frames under way in one direction: 16 ms of a million packets a second.
  static constexpr std::uint32_t kMostUnderWay = 16384;

  void pass(Traveller& traveller, const Verdict& verdict, transport::Time now);
  bool pass_touched(Traveller& traveller, const Verdict& verdict, Passage& passage, transport::Time now);
  void let_follow(transport::Time now);
  void remark_chance(Traveller& traveller, const Passage& passage);
  static void apply_verdict(const Verdict& verdict, transport::Time now, Passage& passage);
  void count(const Verdict& verdict, const Passage& passage);
  void mark(Traveller& traveller, std::span<std::byte> frame, const Verdict& verdict);
  PooledFrame* edit(Traveller& traveller, const Verdict& verdict, const Passage& passage);
  void keep(Traveller& traveller, PooledFrame* edited, const Passage& passage);
  void put_under_way(PooledFrame* frame, const Passage& passage);
  PooledFrame* copy_of(const Traveller& traveller);
  void drop(Traveller& traveller, DropCause cause);
  Why& remark(Traveller& traveller);
  void hand_on(PooledFrame& frame, transport::Time due);

  Link& link_;
  const std::uint32_t device_;
  const std::string name_;  // "urnic0 tx"
  const Direction direction_;
  TravelGuide& guide_;
  FaultHook* faults_ = nullptr;
  LinkDirection model_;
  FramePool pool_;
  DueQueue<PooledFrame*> under_way_;
  LinkCounters counters_;
};

}  // namespace urnic::link
