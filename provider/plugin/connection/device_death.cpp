#include "provider/plugin/connection/device_death.hpp"

#include <rdma/ib_user_verbs.h>
#include <unistd.h>

#include "provider/plugin/objects/cq.hpp"
#include "provider/plugin/objects/events.hpp"

namespace urnic::provider {

void declare_dead(Context& context) {
  if (context.dead.exchange(true)) return;
  ib_uverbs_async_event_desc event{};
  event.event_type = IBV_EVENT_DEVICE_FATAL;
  // The write fails if the pipe is full; then the program has other events to read.
  [[maybe_unused]] ssize_t written = write(context.async_events_writer.get(), &event, sizeof event);
  Lock lock(context.objects_lock);
  for (Cq* cq = context.cqs.first(); cq != nullptr; cq = cq->next) post_completion_event(*cq);
}

void look_for_death(Context& context) {
  if (!is_dead(context) && peer_has_closed(context.control.socket())) declare_dead(context);
}

}  // namespace urnic::provider
