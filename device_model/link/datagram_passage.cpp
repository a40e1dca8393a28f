// Management datagrams of an InfiniBand subnet at the built-in switch: on one device's link.
#include "device_model/link/switch.hpp"
#include "device_model/link/switch_port.hpp"

namespace urnic::link {
namespace {

// Stands for the nodes of the subnet: what is for them leaves by the exit.
class SubnetNodes final : public FrameReceiver {
 public:
  void arrive(const wire::Frame&, const PacketOrigin&) override {}
};
SubnetNodes subnet_nodes;

}  // namespace

void Switch::set_datagram_exit(DatagramExit& exit) {
  datagram_exit_ = &exit;
  subnet_end_ = std::make_unique<SwitchPort>(*this, subnet_nodes, "subnet", ports());
}

// No device has more under way than are free for all (FramesInFlight::room).
LinkPassage Switch::pass_link(std::uint32_t port, Direction direction, const wire::Frame& frame,
                              const PacketOrigin& origin, std::string_view remarks, transport::Time now) {
  SwitchPort& device = *ports_[port];
  if (!device.is_impaired(direction)) return LinkPassage::passed;
  const bool leaves = direction == Direction::transmit;
  FrameInFlight flight(frame, origin, leaves ? &device : subnet_end_.get(),
                       leaves ? subnet_end_.get() : &device);
  flight.remarks.add(remarks);
  if (in_flight_.room(flight.from->frames_under_way) == 0) {
    flight.remarks.next().add("subnet: too many frames under way");
    dropped(flight, device.device, direction);
    return LinkPassage::no_room;
  }
  device.link->channel(direction).enter(flight, now);
  return LinkPassage::under_way;
}

void Switch::come_out(const FrameInFlight& flight, Direction passed) {
  const SwitchPort& device = passed == Direction::transmit ? *flight.from : *flight.to;
  ++arrived_.frames;
  arrived_.bytes += flight.frame.size();
  datagram_exit_->come_out(flight.frame, flight.origin, device.number, passed, flight.remarks.view());
}

}  // namespace urnic::link
