// Packets of InfiniBand at the built-in switch: forwarded by LID.
#include "device_model/link/switch.hpp"
#include "device_model/link/switch_port.hpp"
#include "wire/infiniband/route_codec.hpp"

namespace urnic::link {

bool Switch::is_to_lid_of_group(const wire::Frame& packet) {
  return wire::is_multicast(wire::infiniband::destination_of(packet.headers));
}

// As with Ethernet, a packet to many has its sender as its destination at first.
void Switch::forward_by_lid(SwitchPort& from, const wire::Frame& frame, const PacketOrigin& origin,
                            transport::Time now) {
  const wire::Lid destination = wire::infiniband::destination_of(frame.headers);
  if (wire::is_multicast(destination)) {
    FrameInFlight flight(frame, origin, &from, &from);
    if (from.is_impaired(Direction::transmit))
      return from.link->channel(Direction::transmit).enter(flight, now);
    return copy_to_members(flight, now);
  }
  const LidRoutes::Way way = lid_routes_.pass(from.number, destination, frame.size());
  if (way.device >= ports_.size()) return drop_at_sender(from, frame, origin, way.obstacle);
  forward_to(*ports_[way.device], from, frame, origin, now);
}

// The sender's own members get it at once: an adapter loops what it sends to a group back (IBTA 10.5.2.1).
void Switch::copy_to_members(const FrameInFlight& flight, transport::Time now) {
  copy_to(*flight.from, flight, now);
  const wire::Lid group = wire::infiniband::destination_of(flight.frame.headers);
  for (const std::uint32_t device :
       lid_routes_.pass_to_group(flight.from->number, group, flight.frame.size()))
    if (device < ports_.size()) copy_to(*ports_[device], flight, now);
}

}  // namespace urnic::link
