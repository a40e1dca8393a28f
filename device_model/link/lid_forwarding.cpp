// Packets of InfiniBand at the built-in switch: forwarded by LID.
#include "device_model/link/switch.hpp"
#include "device_model/link/switch_port.hpp"
#include "wire/infiniband/route_codec.hpp"

namespace urnic::link {

// Null: to a group, or `obstacle` says why it reaches no port.
SwitchPort* Switch::port_by_lid(const SwitchPort& from, const wire::Frame& packet,
                                std::string_view& obstacle) {
  const wire::Lid destination = wire::infiniband::destination_of(packet.headers);
  if (wire::is_multicast(destination)) return nullptr;
  const LidRoutes::Way way = lid_routes_.pass(from.number, destination, packet.size());
  if (way.device < ports_.size()) return ports_[way.device].get();
  obstacle = way.obstacle;
  return nullptr;
}

// The sender's own members get it at once: an adapter loops what it sends to a group back (IBTA 10.5.2).
void Switch::copy_to_members(const FrameInFlight& flight, transport::Time now) {
  copy_to(*flight.from, flight, now);
  const wire::Lid group = wire::infiniband::destination_of(flight.frame.headers);
  for (const std::uint32_t device :
       lid_routes_.pass_to_group(flight.from->number, group, flight.frame.size()))
    if (device < ports_.size()) copy_to(*ports_[device], flight, now);
}

}  // namespace urnic::link
