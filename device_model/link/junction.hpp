// One switch's ends of the trunks to and from the switches of other engines, as its engine's rounds use them.
// An engine that is the only one has none.
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
class Junction {
 public:
  // `here` outlives it.
  explicit Junction(Switch& here) : here_(here) {}

  // Before anything moves. The trunks outlive this. `wake` is called, on this engine's thread, when there is
  // something for the reader: it wakes the engine that reads `trunk` if that sleeps.
  void add_outgoing(Trunk& trunk, std::function<void()> wake);
  void add_incoming(Trunk& trunk);

  // A round begins: takes back what others were lent.
  void reclaim();
  // Hands about `most_frames` frames, and at most one with more than `most_bytes` in all, from other engines
  // to the switch; whether there were any. Their payload is stable until `release`.
  bool take(transport::Time now, std::uint32_t most_frames, std::size_t most_bytes);
  // What was taken has been carried out.
  void release();
  // A round ends: what it has sent is seen by those whom it is for.
  void publish();

  // Frames on the way to other engines, and those whose answers may still come.
  std::uint32_t frames_lent() const;
  // Answers may be under way, here or at another engine, to what was sent at this time or later.
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
