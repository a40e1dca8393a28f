#include "device_model/link/link.hpp"

namespace urnic::link {

Link::Link(std::uint32_t number, std::string device, FramesInFlight& in_flight, Forwarder& forwarder)
    : forwarder_(forwarder),
      number_(number),
      device_(std::move(device)),
      transmit_(*this, Direction::transmit, in_flight, forwarder),
      receive_(*this, Direction::receive, in_flight, forwarder) {}

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
  down_until_ = until;
  follow_state();
}

void Link::restore() {
  forwarder_.restored(number_);
  end_cut();
}

void Link::end_cut() {
  down_until_.reset();
  follow_state();
}

void Link::set_carrier(bool present) {
  carrier_ = present;
  follow_state();
}

void Link::follow_state() {
  look_whether_plain();
  const bool up = carrier_ && !down_until_;
  if (up == told_up_) return;
  told_up_ = up;
  forwarder_.link_changed(number_, up);
}

void Link::look_whether_plain() {
  const bool passes = faults_ == nullptr && !down_until_ && carrier_;
  transmit_plain_ = passes && !is_impaired(transmit_.settings()) && transmit_.empty();
  receive_plain_ = passes && !is_impaired(receive_.settings()) && receive_.empty();
}

void Link::look(transport::Time now) {
  if (down_until_ && *down_until_ <= now) end_cut();
  transmit_.end_holds(now);
  receive_.end_holds(now);
}

std::optional<transport::Time> Link::next_look() const {
  std::optional<transport::Time> next;
  if (down_until_ && *down_until_ != transport::Time::max()) next = down_until_;
  for (const LinkChannel* channel : {&transmit_, &receive_}) {
    const auto ends = channel->next_hold();
    if (ends && (!next || *ends < *next)) next = ends;
  }
  return next;
}

}  // namespace urnic::link
