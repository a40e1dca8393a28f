#include "device_model/engine/receives/shared_receive_queue.hpp"

#include <cstring>

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

SharedReceiveQueue::SharedReceiveQueue(const SharedReceiveQueueConfig& config) : config_(config) {
  add_copies(0, config.slot_count);
}

SharedReceiveQueue::~SharedReceiveQueue() {
  if (number_ == 0) return;
  config_.device->shared_receive_queues.remove(number_);
  if (config_.xrc_domain != nullptr) config_.xrc_domain->forget(*this);
}

void SharedReceiveQueue::add_copies(std::uint32_t first_slot, std::uint32_t slot_count) {
  copies_.push_back({first_slot, SlotCopies(slot_count - first_slot, room())});
  taken_slots_.resize(slot_count);
  given_back_.reserve(slot_count);
}

bool SharedReceiveQueue::install() {
  number_ = config_.device->shared_receive_queues.add(*this);
  return number_ != 0;
}

bool SharedReceiveQueue::look() {
  const std::uint32_t producer = config_.producer->load(std::memory_order_acquire);
  if (producer - taken_ > config_.slot_count) {
    break_down();
    return false;
  }
  producer_ = producer;
  return true;
}

// The slot number comes from the program: it must name a slot that no QP has.
bool SharedReceiveQueue::next_slot(std::uint32_t& slot) {
  if (!given_back_.empty()) {
    slot = given_back_.back();
    given_back_.pop_back();
  } else {
    if (taken_ == producer_ && (!look() || taken_ == producer_)) return false;
    slot = config_.posted[taken_++ & (config_.slot_count - 1)];
    forget_shared_memory();
  }
  if (slot < config_.slot_count && taken_slots_[slot] == 0) return true;
  break_down();
  return false;
}

bool SharedReceiveQueue::take(transport::ReceiveRequest& request, std::uint32_t& slot) {
  if (broken_ || !next_slot(slot)) return false;
  taken_slots_[slot] = 1;
  const std::byte* const from = config_.slots + std::size_t{slot} * config_.slot_size;
  abi::ReceiveWqe head;
  std::memcpy(&head, from, sizeof head);
  forget_shared_memory();

  request = {};
  request.pd = config_.pd;
  request.malformed = head.sge_count > room() / sizeof(abi::ScatterGather);
  if (!request.malformed) {
    std::size_t part = copies_.size() - 1;
    while (copies_[part].first > slot) --part;
    request.sges =
        copies_[part].copies.copy_gather_list(slot - copies_[part].first, from + sizeof head, head.sge_count);
    for (const transport::Sge& sge : request.sges) request.length += sge.length;
  }
  if (limit_ != 0) check_limit();
  return true;
}

void SharedReceiveQueue::give_back(std::uint32_t slot) {
  taken_slots_[slot] = 0;
  if (given_back_.size() < given_back_.capacity()) given_back_.push_back(slot);
}

std::uint32_t SharedReceiveQueue::available() {
  if (broken_ || !look()) return 0;
  return static_cast<std::uint32_t>(given_back_.size()) + (producer_ - taken_);
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
  if (!broken_ && look()) {
    for (std::uint32_t index = taken_; index != producer_; ++index) {
      posted[index & (slot_count - 1)] = config_.posted[index & (config_.slot_count - 1)];
    }
  }
  const std::uint32_t before = config_.slot_count;
  config_.slots = slots;
  config_.posted = posted;
  config_.slot_count = slot_count;
  add_copies(before, slot_count);
}

}  // namespace urnic::engine
