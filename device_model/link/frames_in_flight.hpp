// The frames under way on all links of a switch: one pool of copies, and one queue in the order in which they
// are due, so that no link waits for another one's turn.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "device_model/link/due_queue.hpp"
#include "device_model/link/frame_pool.hpp"
#include "device_model/transport/time.hpp"
#include "wire/frame.hpp"

namespace urnic::link {

class FramesInFlight {
 public:
  // Frames under way at most: 16 ms of a million packets a second over two links.
  static constexpr std::uint32_t kFrames = 32768;

  // Allocates here and never again.
  FramesInFlight();

  // Copies `frame`, sent by the device at `from`, into a slot; null if no slot is free or the frame is too
  // large.
  PooledFrame* copy(const wire::Frame& frame, SwitchPort& from);
  // Frees a slot whose bytes may still be referred to: the slot is free after `release`.
  void retire(PooledFrame* frame) { retired_.push_back(frame); }
  void release();
  bool owes_release() const { return !retired_.empty(); }

  // The frame reaches the end of its channel at `due`.
  void depart(PooledFrame* frame, transport::Time due) { due_.push(frame, due); }
  std::optional<DueQueue<PooledFrame*>::Departure> take_due(transport::Time now) {
    return due_.take_due(now);
  }
  std::optional<transport::Time> earliest() const { return due_.earliest(); }
  bool overdue(transport::Time now) const { return due_.earliest() && *due_.earliest() <= now; }

  // Slots that hold a frame, including retired ones.
  std::uint32_t in_use() const { return pool_.in_use(); }
  // How many more frames a device that has `own` under way may send: no device may have more under way than
  // are free for all. So a device on a slow link leaves room for others (dynamic thresholds, Choudhury and
  // Hahne, 1998).
  std::uint32_t room(std::uint32_t own) const;

 private:
  FramePool pool_;
  DueQueue<PooledFrame*> due_;
  std::vector<PooledFrame*> retired_;
};

}  // namespace urnic::link
