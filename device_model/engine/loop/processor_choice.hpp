// Which processors a thread may use: all that it is allowed, but for one that it avoids.
#pragma once

#include <sched.h>

#include <optional>

namespace urnic::engine {

// Of the calling thread, always the same one. Does nothing where there is no other processor, where the
// kernel refuses, or with more than CPU_SETSIZE processors.
class ProcessorChoice {
 public:
  // From the processor on which the thread runs it moves to another one, and stays away. A processor that it
  // avoided before is allowed again.
  void avoid_this();
  // Where somebody else has chosen the thread's processors meanwhile (taskset), theirs stay.
  void avoid_none();

 private:
  struct Avoidance {
    cpu_set_t before;
    cpu_set_t now;
  };

  std::optional<Avoidance> avoidance_;
};

}  // namespace urnic::engine
