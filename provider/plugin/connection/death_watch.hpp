// One thread per process that waits for the death of the device processes behind its contexts. It sleeps in
// poll(2) and costs nothing until then; programs that sleep themselves would never learn of it otherwise.
#pragma once

#include "provider/plugin/connection/context.hpp"

namespace urnic::provider {

// Begins to watch the context's control connection in this process. Where no thread can be started the polls'
// own looks at the connection must do (look_for_death).
void watch_for_death(Context& context);

// Ends it. On return the thread does not touch the context any more.
void stop_watching(Context& context);

}  // namespace urnic::provider
