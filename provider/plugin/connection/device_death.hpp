// What happens to a context when its device process dies: nobody who waits may wait for ever.
#pragma once

#include "provider/plugin/connection/context.hpp"

namespace urnic::provider {

// Marks the context dead, reports IBV_EVENT_DEVICE_FATAL and wakes whoever sleeps on a completion channel.
// From then on requests fail with EIO and polls flush what is outstanding. May be called by anybody and
// repeatedly.
void declare_dead(Context& context);

// For polls that find nothing again and again, where no death watch may be running (a forked child before its
// first request): looks at the connection, without waiting.
void look_for_death(Context& context);

}  // namespace urnic::provider
