#include "device_model/engine/receives/shared_receive_queue.hpp"

#include "device_model/engine/completion/event_pipe.hpp"
#include "device_model/engine/device/device_resources.hpp"
#include "device_model/engine/receives/shared_receive_table.hpp"
#include "device_model/engine/receives/xrc_domain_members.hpp"
#include "device_model/engine/round/round.hpp"

namespace urnic::engine {

namespace {

constexpr std::uint32_t kEventSrqError = 14;         // IBV_EVENT_SRQ_ERR
constexpr std::uint32_t kEventSrqLimitReached = 15;  // IBV_EVENT_SRQ_LIMIT_REACHED

}  // namespace

SharedReceiveQueue::SharedReceiveQueue(const SharedReceiveQueueConfig& config)
    : config_(config), own_(config.ring), wqes_(config.wqes != nullptr ? *config.wqes : own_) {
  make_room(wqes_.slot_count());
}

void SharedReceiveQueue::make_room(std::uint32_t slot_count) {
  taken_slots_.resize(slot_count);
  given_back_.reserve(slot_count);
}

SharedReceiveQueue::~SharedReceiveQueue() {
  if (number_ == 0) return;
  config_.device->shared_receive_queues.remove(number_);
  if (config_.xrc_domain != nullptr) config_.xrc_domain->forget(*this);
}

bool SharedReceiveQueue::install() {
  number_ = config_.device->shared_receive_queues.add(*this);
  return number_ != 0;
}

// The slot number comes from the program: it must name a slot that no QP has.
bool SharedReceiveQueue::next_slot(std::uint32_t& slot) {
  if (!given_back_.empty()) {
    slot = given_back_.back();
    given_back_.pop_back();
  } else {
    const PostedSharedReceives::Look look = wqes_.next(slot);
    if (look == PostedSharedReceives::Look::lied) break_down();
    if (look != PostedSharedReceives::Look::found) return false;
  }
  if (slot < wqes_.slot_count() && taken_slots_[slot] == 0) return true;
  break_down();
  return false;
}

bool SharedReceiveQueue::take(transport::ReceiveRequest& request, std::uint32_t& slot) {
  if (broken_ || !next_slot(slot)) return false;
  taken_slots_[slot] = 1;
  wqes_.read(slot, request);
  request.pd = config_.pd;
  if (limit_ != 0) check_limit();
  return true;
}

void SharedReceiveQueue::give_back(std::uint32_t slot) {
  taken_slots_[slot] = 0;
  if (given_back_.size() < given_back_.capacity()) given_back_.push_back(slot);
}

std::uint32_t SharedReceiveQueue::available() {
  if (broken_) return 0;
  std::uint32_t posted = 0;
  if (wqes_.count(posted) == PostedSharedReceives::Look::lied) {
    break_down();
    return 0;
  }
  return static_cast<std::uint32_t>(given_back_.size()) + posted;
}

void SharedReceiveQueue::arm(std::uint32_t limit) {
  limit_ = limit;
  if (limit_ != 0) check_limit();
}

// Modifying the SRQ arms the limit (IBTA 11.2.3.3); the event disarms it.
void SharedReceiveQueue::check_limit() {
  if (available() >= limit_) return;
  limit_ = 0;
  raise(kEventSrqLimitReached);
}

// IBTA 10.2.9.5: the queue is unusable from now on, and its QPs go to the error state when they need it.
void SharedReceiveQueue::break_down() {
  if (broken_) return;
  broken_ = true;
  raise(kEventSrqError);
}

void SharedReceiveQueue::raise(std::uint32_t event) {
  if (config_.async_events == nullptr) return;
  ++async_events_;
  config_.async_events->push(source_.number(), config_.user_handle, event);
  config_.device->round.notifications().wrote_to(*config_.async_events);
}

void SharedReceiveQueue::grow(const std::byte* slots, std::uint32_t* posted, std::uint32_t slot_count) {
  own_.grow(slots, posted, slot_count);
  make_room(slot_count);
}

}  // namespace urnic::engine
