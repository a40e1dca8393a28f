// The device's end of a completion queue in shared memory: writes CQEs, detects overrun,
// raises the events that the program has armed.
#pragma once

#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "device_model/abi/queues.hpp"
#include "device_model/abi/tag_matching_ring.hpp"
#include "device_model/engine/completion/completion_ring.hpp"
#include "device_model/engine/completion/event_source.hpp"
#include "device_model/engine/completion/request_gate.hpp"
#include "device_model/transport/time.hpp"
#include "device_model/transport/work_request.hpp"

namespace urnic::engine {

class EventPipe;

struct CompletionQueueConfig {
  // The memory of urnic's own face, as in CompletionRingConfig.
  abi::Cqe* ring = nullptr;
  std::uint32_t slots = 0;
  abi::CompletionQueueIndices* indices = nullptr;
  // The entries of another face, instead of those three; null: urnic's own.
  std::shared_ptr<WrittenCompletions> entries{};
  std::uint64_t user_handle = 0;
  EventPipe* channel = nullptr;        // may be null
  EventPipe* async_events = nullptr;   // for IBV_EVENT_CQ_ERR
  std::uint64_t (*clock)() = nullptr;  // as CompletionRingConfig::clock
  // IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN. Then, too, received data never travel in the CQE: they would be lost
  // with it.
  bool ignores_overrun = false;
};

// Event moderation: an armed event is raised after `count` completions, or `period` after the first,
// whichever is sooner. At once with a count below 2 or without a period.
struct CqModeration {
  std::uint32_t count = 0;
  transport::Nanoseconds period{0};
};

// Engine thread only. The mappings belong to the context and outlive the CQ. The hook is for the data path's
// list of CQs whose event moderation delays.
class CompletionQueue
    : public boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  explicit CompletionQueue(const CompletionQueueConfig& config);

  // Writes a CQE, with the completion's data (at most kCqeInlineBytes) in it. On overrun returns false: the
  // CQ stays in error, IBV_EVENT_CQ_ERR is raised once, completions are lost, and the caller moves the QP to
  // the error state. A CQ that ignores overrun loses the completion alone, and raises an armed event for it
  // as for others. `shared_receive_queue`: the number of the SRQ whose slot `completion.wqe_index` is; 0:
  // none.
  bool push(const transport::Completion& completion, std::uint32_t shared_receive_queue = 0);

  // As `push`, for tag matching: `flags` are abi::TagFlag values.
  bool push_tagged(const transport::Completion& completion, std::uint32_t shared_receive_queue,
                   std::uint8_t flags, const abi::TagInfo& info);

  // The program asks for an event, and CQEs are there that it had not read when it asked: then `notify`
  // raises it.
  bool catch_up();
  // The program is about to ask for events again: the device keeps in mind what it asks for now.
  void see_request() { entries_.armed(); }
  // The program's requests pass `gate`, which outlives this or is replaced by null, as those of other CQs of
  // `place`.
  void pass(RequestGate* gate, std::uint32_t place) {
    gate_ = gate;
    place_ = place;
  }
  // WrittenCompletions::requests_may_hide.
  void requests_may_hide(bool may) { entries_.requests_may_hide(may); }
  // Called when a batch ends, after all its pushes: raises an armed event, or delays it (moderation).
  void notify(transport::Time now);
  // When a delayed event is due at the latest; `notify_late` raises it. Empty: no event is delayed.
  std::optional<transport::Time> event_due() const { return event_due_; }
  void notify_late();
  // Applies from now on (ibv_modify_cq). An event that was delayed before is due at once.
  void moderate(const CqModeration& moderation);

  // Moves unread CQEs to a new ring (ibv_resize_cq), which must be all zero, and switches to it; in portions,
  // so that a long ring keeps nobody waiting. Until the last portion, new CQEs go to the old ring. Call
  // `begin_move`, then `move` until it returns something other than `more`. The program must not poll
  // meanwhile.
  using Moved = WrittenCompletions::Moved;
  void begin_move(void* ring, std::uint32_t slots) { entries_.begin_move(ring, slots); }
  Moved move(std::uint32_t most) { return entries_.move(most); }

  // For people who watch it.
  struct Indices : CompletionIndices {
    bool overrun = false;
  };
  Indices indices() const { return {entries_.indices(), overrun_}; }

  // CQEs were added since the last `notify`.
  bool notification_owed() const { return pushed_; }

  // Events raised on the channel, and asynchronous events, since creation.
  EventsTold completion_events() const { return {source_.number(), completion_events_}; }
  EventsTold async_events() const { return {source_.number(), async_events_}; }
  // Whether a received message may travel in the CQE.
  bool has_room_for_data() const { return entries_.has_room_for_data(); }
  std::uint64_t user_handle() const { return config_.user_handle; }
  EventPipe* channel() const { return config_.channel; }
  EventPipe* async_pipe() const { return config_.async_events; }

  std::uint32_t users = 0;  // QPs that complete here

 private:
  bool added(const transport::Completion& completion, bool there_was_room);
  void report_overrun();
  bool put_off(transport::Time now);
  void raise();

  CompletionQueueConfig config_;
  CompletionRing own_;
  WrittenCompletions& entries_;  // the config's, or own_
  RequestGate* gate_ = nullptr;
  std::uint32_t place_ = 0;
  CqModeration moderation_;
  std::uint32_t unreported_ = 0;  // CQEs added since the event was armed
  std::optional<transport::Time> event_due_;
  bool pushed_ = false;
  bool solicited_ = false;
  bool overrun_ = false;
  std::uint32_t completion_events_ = 0;
  std::uint32_t async_events_ = 0;
  EventSource source_;
};

using CompletionQueueList =
    boost::intrusive::list<CompletionQueue, boost::intrusive::constant_time_size<false>>;

}  // namespace urnic::engine
