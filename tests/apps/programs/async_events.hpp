// Asynchronous events of a device, waited for with a bound.
#pragma once

#include <infiniband/verbs.h>
#include <poll.h>

#include <optional>

#include "tests/apps/programs/endpoint.hpp"

namespace urnic::apps {

inline bool becomes_readable(int descriptor, std::chrono::milliseconds time) {
  pollfd look{descriptor, POLLIN, 0};
  return ::poll(&look, 1, static_cast<int>(time.count())) == 1;
}

// The next event that is not IBV_EVENT_COMM_EST, which may come or not; acknowledged already.
inline std::optional<ibv_async_event> wait_async_event(ibv_context* context,
                                                       std::chrono::milliseconds time = kPatience) {
  while (becomes_readable(context->async_fd, time)) {
    ibv_async_event event{};
    if (ibv_get_async_event(context, &event) != 0) return std::nullopt;
    ibv_ack_async_event(&event);
    if (event.event_type != IBV_EVENT_COMM_EST) return event;
  }
  return std::nullopt;
}

}  // namespace urnic::apps
