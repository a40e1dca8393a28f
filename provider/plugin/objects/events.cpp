#include "provider/plugin/objects/events.hpp"

#include <fcntl.h>
#include <rdma/ib_user_verbs.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "provider/plugin/connection/device_death.hpp"
#include "provider/plugin/errno_rule.hpp"
#include "provider/plugin/operations.hpp"

namespace urnic::provider {
namespace {

std::uint64_t handle_of(const void* object) { return reinterpret_cast<std::uintptr_t>(object); }

std::uint64_t object_of(const ib_uverbs_comp_event_desc& event) { return event.cq_handle; }
std::uint64_t object_of(const ib_uverbs_async_event_desc& event) { return event.element; }

// Removes the records of `object` from a pipe: reads all and writes the others back. Opens the pipe again,
// because the program's own descriptor may block.
template <typename Record>
void take_out(int pipe, const Descriptor& writer, const void* object) {
  constexpr std::size_t kPipeBytes = 64 * 1024;  // pipe(7): the capacity
  char path[32];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", pipe);
  Descriptor reader(open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  auto* kept = static_cast<Record*>(std::malloc(kPipeBytes));
  std::size_t count = 0;
  Record record;
  while (reader.valid() && kept != nullptr && (count + 1) * sizeof record <= kPipeBytes &&
         read(reader.get(), &record, sizeof record) == sizeof record) {
    if (object_of(record) != handle_of(object)) kept[count++] = record;
  }
  for (std::size_t i = 0; i < count; ++i) {
    [[maybe_unused]] ssize_t written = write(writer.get(), &kept[i], sizeof record);
  }
  std::free(kept);
}

void take_out_async_events(Context& context, const ibv_context& verbs, const void* object) {
  take_out<ib_uverbs_async_event_desc>(verbs.async_fd, context.async_events_writer, object);
}

void wait_for_acknowledgements(ibv_cq& cq, std::uint32_t completion, std::uint32_t async) {
  pthread_mutex_lock(&cq.mutex);
  while (cq.comp_events_completed != completion || cq.async_events_completed != async) {
    pthread_cond_wait(&cq.cond, &cq.mutex);
  }
  pthread_mutex_unlock(&cq.mutex);
}

// For an object that has asynchronous events only: a QP or an SRQ.
template <typename Object, typename Verbs>
void settle_events(Object& object, Verbs& verbs, const abi::DestroyReply* reported) {
  if (reported == nullptr) take_out_async_events(*object.context, *verbs.context, &object);
  const std::uint32_t expected =
      reported != nullptr ? reported->async_events_reported : object.async_events_read.load();
  pthread_mutex_lock(&verbs.mutex);
  while (verbs.events_completed != expected) pthread_cond_wait(&verbs.cond, &verbs.mutex);
  pthread_mutex_unlock(&verbs.mutex);
}

}  // namespace

std::uint32_t next_arm_word(std::uint32_t request, bool solicited_only, std::uint32_t armed,
                            std::uint32_t fired) {
  const auto next = static_cast<std::uint32_t>(abi::ArmKind::next);
  const bool every_one_pending = armed != fired && (armed & 3) == next;
  const bool solicited = solicited_only && !every_one_pending;
  return request << 2 | (solicited ? static_cast<std::uint32_t>(abi::ArmKind::solicited) : next);
}

void post_completion_event(Cq& cq) {
  if (cq.channel == nullptr) return;
  const ib_uverbs_comp_event_desc event{handle_of(&cq)};
  [[maybe_unused]] ssize_t written = write(cq.channel->descriptor.get(), &event, sizeof event);
}

void settle_events(Cq& cq, const abi::DestroyReply* reported) {
  ibv_cq& verbs = cq.verbs.cq;
  if (reported != nullptr) {
    wait_for_acknowledgements(verbs, reported->completion_events_reported, reported->async_events_reported);
    return;
  }
  if (cq.channel != nullptr) {
    take_out<ib_uverbs_comp_event_desc>(verbs.channel->fd, cq.channel->descriptor, &cq);
  }
  take_out_async_events(*cq.context, *verbs.context, &cq);
  wait_for_acknowledgements(verbs, cq.completion_events_read, cq.async_events_read);
}

void settle_events(Qp& qp, const abi::DestroyReply* reported) { settle_events(qp, qp.verbs.qp, reported); }

void settle_events(Srq& srq, const abi::DestroyReply* reported) {
  settle_events(srq, srq.verbs.srq, reported);
}

void completion_event_read(ibv_cq* cq) { cq_of(cq).completion_events_read.fetch_add(1); }

void async_event_read(ibv_context*, ibv_async_event* event) {
  switch (event->event_type) {
    case IBV_EVENT_CQ_ERR:
      cq_of(event->element.cq).async_events_read.fetch_add(1);
      break;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
      qp_of(event->element.qp).async_events_read.fetch_add(1);
      break;
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED:
      srq_of(event->element.srq).async_events_read.fetch_add(1);
      break;
    default:
      break;
  }
}

int request_notification(ibv_cq* verbs, int solicited_only) {
  Cq& cq = cq_of(verbs);
  abi::CompletionQueueIndices& indices = cq.ring.indices();
  const std::uint32_t word = next_arm_word(cq.arm_requests.fetch_add(1) + 1, solicited_only != 0,
                                           indices.arm.load(std::memory_order_relaxed),
                                           indices.arm_fired.load(std::memory_order_acquire));
  // Sequentially consistent: the program's next poll must see each completion that the device added before
  // the device saw this request.
  indices.arm.store(word);
  if (is_dead(*cq.context)) {
    const KeptErrno kept;
    if (has_flush_errors(cq)) post_completion_event(cq);
  }
  return 0;
}

}  // namespace urnic::provider
