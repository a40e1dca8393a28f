// What happens to a context when its device process dies: no thread may wait for ever.
#pragma once

#include "provider/plugin/connection/verbs_context.hpp"

namespace urnic::provider {

// Marks the context dead, reports IBV_EVENT_DEVICE_FATAL and wakes the threads that sleep on completion
// channels. From then on requests fail with EIO, and polls give flush errors for outstanding work requests.
// Any thread may call this; only the first call has an effect.
void declare_dead(Context& context);

// Declares the context dead if its connection has ended; does not wait. For repeated empty polls, because the
// death watch may not run (a forked child before its first request).
void look_for_death(Context& context);

}  // namespace urnic::provider
