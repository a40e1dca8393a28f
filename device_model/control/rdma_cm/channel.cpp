#include "device_model/control/rdma_cm/channel.hpp"

#include <algorithm>

#include "device_model/abi/rdma_cm_messages.hpp"

namespace urnic::control::rdma_cm {

void Channel::push(const Event& event) {
  events_.push_back(event);
  top_up();
}

std::optional<Event> Channel::take() {
  if (tokens_ > 0) --tokens_;
  std::optional<Event> first;
  if (!events_.empty()) {
    first = events_.front();
    events_.pop_front();
  }
  top_up();
  return first;
}

void Channel::append(std::list<Event>&& events) {
  events_.splice(events_.end(), events);
  top_up();
}

std::uint32_t Channel::excess_tokens() {
  const auto needed = static_cast<std::uint32_t>(std::min<std::size_t>(tokens_, events_.size()));
  const std::uint32_t excess = tokens_ - needed;
  tokens_ = needed;
  return excess;
}

void Channel::top_up() {
  const auto wanted = std::min<std::size_t>(events_.size(), abi::kMaxEventTokens);
  while (tokens_ < wanted && send_token_()) ++tokens_;
}

}  // namespace urnic::control::rdma_cm
