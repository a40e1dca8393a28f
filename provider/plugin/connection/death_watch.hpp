// One thread per process that waits for the death of the device processes of its contexts. It sleeps in
// poll(2). Without it, a program that sleeps itself would never learn of the death.
#pragma once

#include "provider/plugin/connection/verbs_context.hpp"

namespace urnic::provider {

// Begins to watch the context's control connection in this process. If no thread can be started, only empty
// polls notice the death (look_for_death).
void watch_for_death(Context& context);

// Stops watching. On return the thread does not use the context any more.
void stop_watching(Context& context);

}  // namespace urnic::provider
