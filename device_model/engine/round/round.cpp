#include "device_model/engine/round/round.hpp"

namespace urnic::engine {

namespace {

// What the QPs of an engine hold together of what arrives out of order. One QP may have half of it, which is
// eight bandwidth-delay products of 100 Gbit/s and 100 us at an MTU of 1024.
constexpr std::uint32_t kHeldPackets = 32768;

}  // namespace

Round::Round() : held_packets_(kHeldPackets, &arenas_) {
  for (ActionList& list : lists_) {
    list.reserve();
    list.number = ++list_number_;
    list.arena = &arenas_.take();
  }
}

}  // namespace urnic::engine
