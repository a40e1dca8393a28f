// The interface of every service's traffic: queue pairs of two programs that are used at random.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/unit/engine/program.hpp"
#include "tests/unit/storm/chance.hpp"

namespace urnic::engine::storm {

// The two programs that exchange traffic. They must outlive it.
struct Programs {
  test::Program& one;
  test::Program& other;
};

class Traffic {
 public:
  virtual ~Traffic() = default;

  // Posts a request or a receive at one of the ends.
  virtual void post(Chance& chance) = 0;
  // Takes the completions.
  virtual void poll() = 0;
  // Moves a queue pair to another state, or connects the ends anew.
  virtual void disturb(Chance& chance) = 0;
};

// Returns 1 to 3 ranges in the memory of `program`, with its key, now and then with a wrong one.
std::vector<abi::ScatterGather> random_ranges(Chance& chance, const test::Program& program);

// A request of any kind for connected queue pairs, towards the memory of `target`. Hardly any is wrong.
abi::SendWqe random_request(Chance& chance, const test::Program& target);

// Posts a request, inline if it is short.
void post_random(Chance& chance, test::TestQp& queue_pair, const test::Program& from,
                 const abi::SendWqe& request);

// Gives a queue pair any recovery and any congestion control. Engine thread.
void choose_modes(Chance& chance, QueuePairContext& queue_pair);

// Moves `queue_pair`, which must not be in the reset state, to the error state, or to SQD and back.
void disturb_state(Chance& chance, Engine& engine, test::TestQp& queue_pair);

// Brings `queue_pair` from any state back to RTS, connected to `peer`; what was posted is forgotten.
void connect_anew(Engine& engine, test::TestQp& queue_pair, test::TestQp& peer, std::uint32_t path_mtu);

inline void drain(test::TestCq& queue) {
  while (queue.poll()) continue;
}

}  // namespace urnic::engine::storm
