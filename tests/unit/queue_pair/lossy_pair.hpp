// Two queue pairs and a link between them that loses, duplicates, delays and damages packets, under virtual
// time. All chance comes from one seed, so a run repeats exactly.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <queue>
#include <random>
#include <vector>

#include "tests/unit/queue_pair/side.hpp"

namespace urnic::transport::bench {

struct LinkBehaviour {
  double loss = 0;
  double duplication = 0;
  // Share of packets of which one bit, anywhere in the frame, is flipped on its way.
  double corruption = 0;
  double reordering = 0;  // share of packets that are held back by up to `held_back`
  Nanoseconds delay{2000};
  Nanoseconds held_back{20000};
  Nanoseconds batch{0};  // packets that arrive within this span are handled in one batch
};

class LossyPair {
 public:
  LossyPair(std::uint64_t seed, const LinkBehaviour& link, const QpParameters& parameters,
            std::size_t memory_size, std::uint32_t slots, const std::array<RecoveryMode, 2>& recovery = {});

  Side& side(std::size_t which) { return which == 0 ? left_ : right_; }
  Time now() const { return now_; }
  std::mt19937_64& chance() { return chance_; }
  // Packets of which a bit was flipped, and that were dropped for it.
  std::uint64_t dropped_as_corrupt() const { return dropped_as_corrupt_; }

  // Lets both sides act, then the link and the timers, until nothing is under way or `until` is reached.
  // False if something is still under way then.
  bool run_until(Time until);
  bool run_for(Nanoseconds span) { return run_until(now_ + span); }

 private:
  struct Flight {
    Time arrival;
    std::uint64_t order;  // of sending: ties are broken by it
    std::size_t to;
    Packet packet;
    bool operator>(const Flight& other) const {
      return arrival != other.arrival ? arrival > other.arrival : order > other.order;
    }
  };

  void act(std::size_t which);
  void launch(std::size_t to, const Packet& packet);
  bool happens(double probability);
  std::optional<Packet> with_a_flipped_bit(const Packet& packet);
  std::optional<Time> next_event();

  std::mt19937_64 chance_;
  LinkBehaviour link_;
  Side left_;
  Side right_;
  Time now_{};
  std::uint64_t order_ = 0;
  std::uint64_t dropped_as_corrupt_ = 0;
  std::priority_queue<Flight, std::vector<Flight>, std::greater<>> flights_;
};

}  // namespace urnic::transport::bench
