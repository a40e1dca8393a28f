// One direction of a link, carrying frames: asks the fault plan and LinkDirection what happens to each frame,
// makes the changes, and keeps copies of frames under way. Hands a frame that nothing delays or changes on at
// once, without a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "device_model/link/fault_hook.hpp"
#include "device_model/link/frame_in_flight.hpp"
#include "device_model/link/frames_in_flight.hpp"
#include "device_model/link/held_behind.hpp"
#include "device_model/link/link_counters.hpp"
#include "device_model/link/link_direction.hpp"

namespace urnic::link {

class Link;

class LinkChannel {
 public:
  // `link`, `in_flight` and `forwarder` outlive it.
  LinkChannel(Link& link, Direction direction, FramesInFlight& in_flight, Forwarder& forwarder);

  // For packets that enter from now on. Allocates.
  void configure(const LinkSettings& settings);
  const LinkSettings& settings() const { return model_.settings(); }
  void set_faults(FaultHook* faults) { faults_ = faults; }
  // Its queue shares `buffer` with others from now on. `buffer` outlives the channel.
  void share(SharedBuffer& buffer);
  // `pause` is of its device, and outlives the channel. From the device nothing leaves meanwhile; towards it
  // it is counted, because that is the way of the frames that say so.
  void set_pause(const Pause& pause);

  void enter(FrameInFlight& flight, transport::Time now);
  // A frame that this channel has put in flight reaches the channel's end at `due`.
  void leave(PooledFrame& frame, transport::Time due);
  // Puts held frames under way whose hold ends at `now` or before.
  void end_holds(transport::Time now);
  // When the next hold ends; empty if there is none.
  std::optional<transport::Time> next_hold() const { return held_.earliest(); }
  // Nothing is under way or held.
  bool empty() const { return under_way_ == 0 && held_.empty(); }

  const LinkDirection& model() const { return model_; }
  LinkCounters counters() const;

 private:
  void prepare_model();
  void pass(FrameInFlight& flight, const Verdict& verdict, transport::Time now);
  void pass_touched(FrameInFlight& flight, const Verdict& verdict, Passage& passage, transport::Time now);
  bool delivers_at_once(const Passage& passage, transport::Time now) const;
  bool is_late(transport::Time now) const;
  void let_follow(transport::Time due, transport::Time now);
  void remark_chance(FrameInFlight& flight, const Passage& passage);
  static void apply_verdict(const Verdict& verdict, transport::Time now, Passage& passage);
  void count(const Verdict& verdict, const Passage& passage);
  void mark(FrameInFlight& flight, const Verdict& verdict);
  bool take_slot(FrameInFlight& flight);
  void edit(FrameInFlight& flight, const Verdict& verdict, const Passage& passage);
  void hand_on_copies(FrameInFlight& flight, std::uint32_t copies, transport::Time now);
  void keep_copies(FrameInFlight& flight, const Passage& passage);
  void put_under_way(FrameInFlight& flight, const Passage& passage);
  void depart(PooledFrame* frame, transport::Time due);
  void drop(FrameInFlight& flight, DropCause cause);
  Remarks& remark(FrameInFlight& flight);

  Link& link_;
  const std::uint32_t device_;
  const std::string name_;  // "urnic0 tx"
  const Direction direction_;
  FramesInFlight& in_flight_;
  Forwarder& forwarder_;
  FaultHook* faults_ = nullptr;
  SharedBuffer* buffer_ = nullptr;
  const Pause* pause_ = nullptr;
  LinkDirection model_;
  std::uint32_t under_way_ = 0;  // of the frames in flight
  HeldBehind<PooledFrame*> held_;
  LinkCounters counters_;
};

}  // namespace urnic::link
