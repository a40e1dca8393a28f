#include "device_model/link/link.hpp"

namespace urnic::link {

Link::Link(std::uint32_t number, std::string device, TravelGuide& guide)
    : guide_(guide),
      number_(number),
      device_(std::move(device)),
      transmit_(*this, Direction::transmit, guide),
      receive_(*this, Direction::receive, guide) {}

void Link::configure(Direction direction, const LinkSettings& settings) {
  channel(direction).configure(settings);
  look_whether_plain();
}

void Link::set_faults(FaultHook* faults) {
  faults_ = faults;
  transmit_.set_faults(faults);
  receive_.set_faults(faults);
  look_whether_plain();
}

void Link::cut(transport::Time until) {
  const bool was_up = !down_until_;
  down_until_ = until;
  look_whether_plain();
  if (was_up) guide_.link_changed(number_, false);
}

void Link::restore() {
  const bool was_up = !down_until_;
  down_until_.reset();
  look_whether_plain();
  if (!was_up) guide_.link_changed(number_, true);
}

void Link::look_whether_plain() {
  plain_ = faults_ == nullptr && !down_until_ && !has_character(transmit_.settings()) &&
           !has_character(receive_.settings()) && transmit_.empty() && receive_.empty();
}

std::size_t Link::deliver_due(transport::Time now, std::size_t most) {
  if (down_until_ && *down_until_ <= now) restore();
  std::size_t delivered = transmit_.deliver_due(now, most);
  if (delivered < most) delivered += receive_.deliver_due(now, most - delivered);
  if (delivered != 0) look_whether_plain();
  return delivered;
}

std::optional<transport::Time> Link::next_due() const {
  std::optional<transport::Time> next;
  if (down_until_ && *down_until_ != transport::Time::max()) next = down_until_;
  for (const LinkChannel* channel : {&transmit_, &receive_}) {
    const auto due = channel->next_due();
    if (due && (!next || *due < *next)) next = due;
  }
  return next;
}

}  // namespace urnic::link
