#include "device_model/engine/receives/shared_receive_table.hpp"

namespace urnic::engine {

namespace {

constexpr std::uint32_t kMask = 0xFFFFFF;

}  // namespace

SharedReceiveTable::SharedReceiveTable(std::uint32_t limit, memory::NumberSeed seed)
    : limit_(limit), next_(static_cast<std::uint32_t>(seed.bits(memory::NumberDraw::srq_number)) & kMask) {}

SharedReceiveTable::~SharedReceiveTable() = default;

std::uint32_t SharedReceiveTable::add(SharedReceiveQueue& queue) {
  if (queues_.size() >= limit_) return 0;
  do {
    next_ = (next_ + 1) & kMask;
  } while (next_ == 0 || queues_.contains(next_));
  queues_.emplace(next_, &queue);
  return next_;
}

void SharedReceiveTable::remove(std::uint32_t number) { queues_.erase(number); }

SharedReceiveQueue* SharedReceiveTable::find(std::uint32_t number) const {
  const auto found = queues_.find(number);
  return found == queues_.end() ? nullptr : found->second;
}

}  // namespace urnic::engine
