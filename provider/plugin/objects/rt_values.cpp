// ibv_query_rt_values_ex: reads the device's clock.
#include <cerrno>

#include "provider/freestanding/clock.hpp"
#include "provider/plugin/operations.hpp"

namespace urnic::provider {

// The clock of completion timestamps, in ticks of hca_core_clock. As in other drivers, tv_nsec holds all
// ticks.
int query_rt_values(ibv_context*, ibv_values_ex* values) {
  if ((values->comp_mask & ~std::uint32_t{IBV_VALUES_MASK_RAW_CLOCK}) != 0) return EINVAL;
  if ((values->comp_mask & IBV_VALUES_MASK_RAW_CLOCK) != 0) {
    values->raw_clock.tv_sec = 0;
    values->raw_clock.tv_nsec = nanoseconds_of(CLOCK_MONOTONIC);
  }
  return 0;
}

}  // namespace urnic::provider
