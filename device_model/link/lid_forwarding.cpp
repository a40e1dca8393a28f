// Packets of InfiniBand at the built-in switch: forwarded by LID, at once or by what is inside the subnet.
#include <algorithm>
#include <utility>

#include "device_model/link/switch.hpp"
#include "device_model/link/switch_port.hpp"
#include "wire/infiniband/route_codec.hpp"

namespace urnic::link {

SwitchPort* Switch::port_in_subnet(std::uint32_t number) const {
  if (number < ports_.size()) return ports_[number].get();
  const std::size_t station = number - ports_.size() - 1;  // add_station
  return station < outer_ends_.size() ? outer_ends_[station].get() : nullptr;
}

// Observers see it under the name of the device that it goes to, before that device's link, as what comes
// from outside.
void Switch::enter_from_station(SwitchPort& from, const wire::Frame& packet, const PacketOrigin& origin,
                                transport::Time now) {
  std::string_view obstacle;
  SwitchPort* const to = port_by_lid(from, packet, obstacle);
  const std::string_view device = to != nullptr ? to->device : from.device;
  if (!observers_.empty())
    observe({packet, origin, CapturePoint::before_link, device, Direction::transmit, {}});
  if (to != nullptr) {
    FrameInFlight flight(packet, origin, &from, to);
    return hand_on(flight, Direction::transmit, now);
  }
  FrameInFlight flight(packet, origin, &from, &from);
  if (wire::infiniband::is_to_group(packet.headers)) return flood(flight, now);
  flight.remarks.next().add(obstacle);
  dropped(flight, device, Direction::transmit);
}

// Null: to a group, or `obstacle` says why it reaches no port. What takes time on the sender's link is
// counted behind it, and where packets take time inside, they are counted there, and may find another way
// until then; one that has none now is dropped here.
SwitchPort* Switch::port_by_lid(const SwitchPort& from, const wire::Frame& packet,
                                std::string_view& obstacle) {
  const wire::Lid destination = wire::infiniband::destination_of(packet.headers);
  if (wire::is_multicast(destination)) return nullptr;
  if (lid_fabric_ != nullptr || from.is_impaired(Direction::transmit)) {
    const LidRoutes::Way way = lid_routes_.find(from.number, destination);
    if (SwitchPort* const to = port_in_subnet(way.device)) return to;
  }
  const LidRoutes::Way way = lid_routes_.pass(from.number, destination, packet.size());
  if (SwitchPort* const to = port_in_subnet(way.device)) return to;
  obstacle = way.obstacle;
  return nullptr;
}

// Its way does not take time, and what is to a group has no way yet.
void Switch::count_way(const FrameInFlight& flight) {
  const wire::Frame& packet = flight.frame;
  if (packet.link_layer != wire::LinkLayer::infiniband || lid_fabric_ != nullptr) return;
  const wire::Lid destination = wire::infiniband::destination_of(packet.headers);
  if (!wire::is_multicast(destination)) lid_routes_.pass(flight.from->number, destination, packet.size());
}

// The sender's own members get it at once: an adapter loops what it sends to a group back (IBTA 10.5.2). A
// station has sent what it wanted to.
void Switch::copy_to_members(const FrameInFlight& flight, transport::Time now) {
  if (!flight.from->enters_here) copy_to(*flight.from, flight, now);
  if (lid_fabric_ != nullptr) {
    FrameInFlight further(flight);
    further.slot = nullptr;
    return enter_subnet(further, now);
  }
  const wire::Lid group = wire::infiniband::destination_of(flight.frame.headers);
  for (const std::uint32_t device :
       lid_routes_.pass_to_group(flight.from->number, group, flight.frame.size()))
    if (SwitchPort* const to = port_in_subnet(device)) copy_to(*to, flight, now);
}

void Switch::set_lid_node(std::uint32_t number, LidNode node, transport::Time now) {
  lid_routes_.set_node(number, std::move(node));
  if (lid_fabric_ != nullptr) lid_fabric_->node_changed(number, now);
}

// It is behind the sender's link.
void Switch::enter_subnet(FrameInFlight& flight, transport::Time now) {
  PooledFrame* const frame = flight.slot != nullptr ? std::exchange(flight.slot, nullptr)
                                                    : in_flight_.copy(flight.frame, *flight.from);
  if (frame == nullptr) {
    flight.remarks.next().add("subnet: too many frames under way");
    return dropped(flight, flight.from->device, Direction::transmit);
  }
  frame->origin = flight.origin;
  frame->to = flight.to;
  frame->remarks = flight.remarks;
  lid_fabric_->enter(*frame, flight.from->number, now);
}

// The port at the end of a link drops a packet whose VCRC is wrong (IBTA 7.8.2, 7.12). Data that comes to a
// device has been counted on its whole way; management datagrams are not.
void Switch::arrive_damaged(FrameInFlight& flight, Direction passed) {
  const bool is_received = passed == Direction::receive;
  SwitchPort& device = is_received || flight.from->makes_datagrams ? *flight.to : *flight.from;
  flight.remarks.next().add("dropped at the end of ").add(device.device).add("'s link, its VCRC is wrong");
  const auto adapter = lid_routes_.port_of_device(device.number);
  const auto place = adapter && !is_received ? lid_routes_.receiver_from(*adapter) : adapter;
  const bool is_counted = is_received && !flight.from->makes_datagrams;
  if (place) lid_routes_.count_damaged(*place, flight.frame.size(), is_counted);
  if (is_received) device.receiver.arrive_damaged(flight.frame);
  dropped(flight, device.device, passed);
}

// Its flow control does not pass, either.
void Switch::cut(std::uint32_t port, transport::Time from, transport::Time until) {
  if (lid_fabric_ != nullptr) lid_fabric_->fall_silent(port, from, until);
}

void Switch::restored(std::uint32_t port) {
  if (lid_fabric_ != nullptr) lid_fabric_->end_silence(port);
}

bool Switch::subnet_is_next() const {
  const auto inside = lid_fabric_->next_due();
  const auto links = in_flight_.earliest();
  return inside && (!links || *inside <= *links);
}

std::optional<transport::Time> Switch::next_frame_due() const {
  return lid_fabric_ != nullptr && subnet_is_next() ? lid_fabric_->next_due() : in_flight_.earliest();
}

// Its link may have a rate: then it takes a packet when the one before has passed.
transport::Time Switch::takes_at(std::uint32_t device, std::size_t bytes, transport::Time now) const {
  const SwitchPort& port = *port_in_subnet(device);
  if (!port.is_impaired(Direction::receive)) return now;
  const LinkDirection& line = port.link->channel(Direction::receive).model();
  constexpr transport::Nanoseconds kWhenIdle{0};
  if (line.room(now, kWhenIdle, bytes) >= bytes) return now;
  return std::max(now, line.room_at(kWhenIdle, 0));
}

void Switch::leave(PooledFrame& frame, std::uint32_t device, transport::Time now) {
  SwitchPort& to = *port_in_subnet(device);
  FrameInFlight flight(frame.frame(), frame.origin, frame.from, &to);
  flight.slot = &frame;
  flight.remarks = frame.remarks;
  if (to.is_impaired(Direction::receive)) {
    to.link->channel(Direction::receive).enter(flight, now);
  } else {
    arrive(flight.frame, flight.origin, to, flight.remarks.view());
  }
  if (flight.slot != nullptr) in_flight_.retire(flight.slot);
}

void Switch::lose(PooledFrame& frame, std::string_view why) {
  report_lost(frame, why);
  in_flight_.retire(&frame);
}

void Switch::report_lost(PooledFrame& frame, std::string_view why) {
  FrameInFlight flight(frame.frame(), frame.origin, frame.from, frame.to);
  flight.remarks = frame.remarks;
  flight.remarks.next().add("subnet: ").add(why);
  dropped(flight, frame.from->device, Direction::transmit);
}

PooledFrame* Switch::copy(PooledFrame& frame) {
  PooledFrame* const another = in_flight_.copy(frame.frame(), *frame.from);
  if (another == nullptr) {
    report_lost(frame, "too many frames under way");
    return nullptr;
  }
  another->origin = frame.origin;
  another->to = frame.to;
  another->remarks = frame.remarks;
  return another;
}

}  // namespace urnic::link
