#include "device_model/control/rdma_cm/channel.hpp"

#include <algorithm>

#include "device_model/abi/rdma_cm_messages.hpp"

namespace urnic::control::rdma_cm {

void Channel::carry_events(Carrier carrier) {
  if (carrier_) return;
  carrier_ = std::move(carrier);
  carries_ = true;
}

void Channel::push(const Event& event) {
  events_.push_back(event);
  announce();
}

void Channel::announce() {
  if (!carrier_) return top_up();
  if (!events_.empty()) carrier_->has_tokens();
}

void Channel::send_tokens() {
  if (carries_ && !carried_ && tokens_ == 0 && !events_.empty() && carry_first()) events_.pop_front();
  top_up();
}

// Only into a socket where nothing lies: then a token's size is known.
bool Channel::carry_first() {
  if (carrier_->unread() != 0) return false;
  std::uint32_t number = number_ + 1;
  if (number == 0) number = 1;
  if (!carrier_->send(events_.front(), number)) return false;
  number_ = number;
  carried_ = events_.front();
  token_size_ = carrier_->unread();
  return true;
}

// Those that carry nothing lie behind it, and are unread, too, if it is.
bool Channel::is_carried_unread() const {
  return token_size_ != 0 && carrier_->unread() / token_size_ > tokens_;
}

std::optional<Event> Channel::taken() {
  if (!carried_ || !carrier_ || is_carried_unread()) return {};
  return std::exchange(carried_, std::nullopt);
}

void Channel::take_back() {
  events_.push_front(*carried_);
  carried_.reset();
  ++tokens_;
  withdrawn_ = number_;
  carries_ = false;
}

std::optional<Event> Channel::take() {
  if (tokens_ > 0) --tokens_;
  std::optional<Event> first;
  if (!events_.empty()) {
    first = events_.front();
    events_.pop_front();
  }
  announce();
  return first;
}

void Channel::append(std::list<Event>&& events) {
  events_.splice(events_.end(), events);
  announce();
}

std::uint32_t Channel::excess_tokens() {
  const auto needed = static_cast<std::uint32_t>(std::min<std::size_t>(tokens_, events_.size()));
  const std::uint32_t excess = tokens_ - needed;
  // Whoever discards tokens cannot tell one that carries an event.
  if (excess > 0) carries_ = false;
  tokens_ = needed;
  return excess;
}

void Channel::top_up() {
  const auto wanted = std::min<std::size_t>(events_.size(), abi::kMaxEventTokens);
  while (tokens_ < wanted && send_token_()) ++tokens_;
}

}  // namespace urnic::control::rdma_cm
