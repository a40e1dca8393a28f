#include "device_model/engine/loop/processor_choice.hpp"

namespace urnic::engine {

void ProcessorChoice::avoid_this() {
  avoid_none();
  const int here = sched_getcpu();
  Avoidance wanted;
  if (here < 0 || here >= CPU_SETSIZE || sched_getaffinity(0, sizeof wanted.before, &wanted.before) != 0)
    return;
  wanted.now = wanted.before;
  CPU_CLR(here, &wanted.now);
  if (CPU_COUNT(&wanted.now) == 0 || sched_setaffinity(0, sizeof wanted.now, &wanted.now) != 0) return;
  avoidance_ = wanted;
}

void ProcessorChoice::avoid_none() {
  cpu_set_t current;
  if (!avoidance_ || sched_getaffinity(0, sizeof current, &current) != 0) return;
  if (CPU_EQUAL(&current, &avoidance_->now))
    sched_setaffinity(0, sizeof avoidance_->before, &avoidance_->before);
  avoidance_.reset();
}

}  // namespace urnic::engine
