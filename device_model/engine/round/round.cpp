#include "device_model/engine/round/round.hpp"

namespace urnic::engine {

namespace {

// The reorder buffer that the QPs of an engine share. One QP may use half of it: eight bandwidth-delay
// products of 100 Gbit/s and 100 us at an MTU of 1024.
constexpr std::uint32_t kReorderSlots = 32768;

}  // namespace

Round::Round() : reorder_pool_(kReorderSlots, &arenas_) {
  for (ActionList& list : lists_) {
    list.reserve();
    list.number = ++list_number_;
    list.arena = &arenas_.take();
  }
}

}  // namespace urnic::engine
