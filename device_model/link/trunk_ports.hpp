// One switch's ends of all trunks to and from other engines' switches, for its engine's rounds. A single
// engine has none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "device_model/transport/time.hpp"

namespace urnic::link {

class Switch;
class Trunk;

// Engine thread only.
class TrunkPorts {
 public:
  // `here` outlives it.
  explicit TrunkPorts(Switch& here) : here_(here) {}

  // Call before frames move. The trunks outlive this. `wake` is called on this engine's thread when `trunk`
  // has frames; it wakes the reading engine if that sleeps.
  void add_outgoing(Trunk& trunk, std::function<void()> wake);
  void add_incoming(Trunk& trunk);

  // A round begins: takes back payload that other engines have released.
  void reclaim();
  // Hands frames from other engines to the switch: at most about `most_frames`, and at most one frame beyond
  // `most_bytes`, and none while the LAN has no room. Returns whether there were any. Payload is stable until
  // `release`.
  bool take(transport::Time now, std::uint32_t most_frames, std::size_t most_bytes);
  // The engine has carried out the actions of the taken frames.
  void release();
  // A round ends: makes sent frames visible to their readers.
  void publish();

  // Frames on the way to other engines, and frames that may still be answered.
  std::uint32_t frames_lent() const;
  // Frames sent at this time or later may still be answered, here or by another engine.
  std::optional<transport::Time> oldest_under_way() const;

 private:
  struct Outgoing {
    Trunk* trunk;
    std::function<void()> wake;
  };

  Switch& here_;
  std::vector<Outgoing> outgoing_;
  std::vector<Trunk*> incoming_;
  std::size_t first_ = 0;  // of the incoming: each begins in its turn
};

}  // namespace urnic::link
