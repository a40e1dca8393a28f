// The device's end of a completion queue in shared memory: writes CQEs with a phase bit, notices overrun,
// raises events that the program has asked for.
#pragma once

#include <boost/intrusive/list.hpp>
#include <cstdint>
#include <optional>

#include "device_model/abi/queues.hpp"
#include "device_model/abi/tag_matching.hpp"
#include "device_model/transport/time.hpp"
#include "device_model/transport/work_request.hpp"

namespace urnic::engine {

class EventPipe;

struct CompletionQueueConfig {
  abi::Cqe* ring = nullptr;  // all zero: no CQE counts as written
  std::uint32_t slots = 0;   // a power of two
  abi::CompletionQueueIndices* indices = nullptr;
  std::uint64_t user_handle = 0;
  EventPipe* channel = nullptr;       // may be null
  EventPipe* async_events = nullptr;  // for IBV_EVENT_CQ_ERR
  // The time in nanoseconds, which each completion is to have; null: none has. Received data then never
  // travels in the CQE.
  std::uint64_t (*clock)() = nullptr;
};

// When events are raised that a program has asked for: after so many completions, or so long after the first
// of them, whichever is sooner. With a count below 2 or without a period, at once.
struct CqModeration {
  std::uint32_t count = 0;
  transport::Nanoseconds period{0};
};

// Engine thread only. The mappings belong to the context and
// outlive the CQ. The hook is for the data path's list of queues whose event is put off.
class CompletionQueue
    : public boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  explicit CompletionQueue(const CompletionQueueConfig& config);

  // Writes a CQE; the completion's data, at most kCqeInlineBytes, travels in it. On overrun the CQ is in
  // error for good: IBV_EVENT_CQ_ERR is raised once and completions are lost; the caller takes the QP to
  // error when this returns false. `shared_receive_queue`, unless 0, is the number of the SRQ in whose slot
  // `completion.wqe_index` the WQE was.
  bool push(const transport::Completion& completion, std::uint32_t shared_receive_queue = 0);

  // The same for one of tag matching: `flags` are abi::TagFlag values.
  bool push_tagged(const transport::Completion& completion, std::uint32_t shared_receive_queue,
                   std::uint8_t flags, const abi::TagInfo& info);

  // Called when a batch ends, after all its pushes: raises the event if one is asked for, or puts it off.
  void notify(transport::Time now);
  // When an event that was put off is due at the latest, which `notify_late` then raises; empty: none was.
  std::optional<transport::Time> event_due() const { return event_due_; }
  void notify_late();
  // From now on (ibv_modify_cq). An event that was put off before is due at once.
  void moderate(const CqModeration& moderation);

  // Moves unread CQEs to a new ring (ibv_resize_cq), which must be all zero, and goes over to it: in
  // portions, so that nobody else waits until a long ring is copied. Until the last one, CQEs are added to
  // the old ring. `begin_move` first, then `move` until it returns anything but `more`. The program reads
  // nothing meanwhile.
  enum class Moved : std::uint8_t {
    more,
    all,          // `unread` CQEs are in the new ring, which is the CQ's now
    does_not_fit  // the CQ is as it was
  };
  void begin_move(abi::Cqe* ring, std::uint32_t slots);
  Moved move(std::uint32_t most, std::uint32_t& unread);

  // CQEs were added since the last `notify`.
  bool notification_owed() const { return pushed_; }

  // Events raised on the channel / as asynchronous events since creation.
  std::uint32_t completion_events() const { return completion_events_; }
  std::uint32_t async_events() const { return async_events_; }
  // Whether a received message may travel in the CQE.
  bool has_room_for_data() const { return config_.clock == nullptr; }
  std::uint64_t user_handle() const { return config_.user_handle; }
  EventPipe* channel() const { return config_.channel; }
  EventPipe* async_pipe() const { return config_.async_events; }

  std::uint32_t users = 0;  // QPs that complete here

 private:
  // A ring that unread CQEs are being moved to, from number `begin` of all; those before `next` are there.
  struct NewRing {
    abi::Cqe* ring = nullptr;
    std::uint32_t slots = 0;
    std::uint32_t begin = 0;
    std::uint32_t next = 0;
  };

  std::uint8_t phase(std::uint32_t index) const;
  bool full();
  void report_overrun();
  bool put_off(transport::Time now);
  void raise(std::uint32_t arm);

  CompletionQueueConfig config_;
  NewRing new_ring_;
  std::uint32_t producer_ = 0;
  std::uint32_t consumer_ = 0;  // as last seen; looked at again only when the ring seems full
  std::uint32_t arm_fired_ = 0;
  CqModeration moderation_;
  std::uint32_t unreported_ = 0;  // CQEs added since an event was asked for
  std::optional<transport::Time> event_due_;
  bool pushed_ = false;
  bool solicited_ = false;
  bool overrun_ = false;
  std::uint32_t completion_events_ = 0;
  std::uint32_t async_events_ = 0;
};

using CompletionQueueList =
    boost::intrusive::list<CompletionQueue, boost::intrusive::constant_time_size<false>>;

}  // namespace urnic::engine
