// ibv_query_rt_values_ex: what the device's clock says.
#include <cerrno>

#include "provider/plugin/freestanding/clock.hpp"
#include "provider/plugin/operations.hpp"

namespace urnic::provider {

// The clock is that of completion timestamps, in ticks of hca_core_clock; as drivers have it, all of them are
// in tv_nsec.
int query_rt_values(ibv_context*, ibv_values_ex* values) {
  if ((values->comp_mask & ~std::uint32_t{IBV_VALUES_MASK_RAW_CLOCK}) != 0) return EINVAL;
  if ((values->comp_mask & IBV_VALUES_MASK_RAW_CLOCK) != 0) {
    values->raw_clock.tv_sec = 0;
    values->raw_clock.tv_nsec = nanoseconds_of(CLOCK_MONOTONIC);
  }
  return 0;
}

}  // namespace urnic::provider
