// Management datagrams of an InfiniBand subnet at the built-in switch: on one device's link.
#include "device_model/link/switch.hpp"
#include "device_model/link/switch_port.hpp"

namespace urnic::link {
namespace {

// Stands for a node that makes them: nothing goes there.
class DatagramMaker final : public FrameReceiver {
 public:
  void arrive(const wire::Frame&, const PacketOrigin&) override {}
};
DatagramMaker datagram_maker;

}  // namespace

void Switch::set_datagram_exit(DatagramExit& exit, std::uint32_t makers) {
  datagram_exit_ = &exit;
  for (std::uint32_t maker = 0; maker < makers; ++maker) {
    datagram_makers_.push_back(std::make_unique<SwitchPort>(*this, datagram_maker, "subnet", ports()));
    datagram_makers_.back()->makes_datagrams = true;
  }
}

// No maker has more under way than are free for all (FramesInFlight::room). They are not counted with a
// device's data: virtual lane 15 has a buffer of its own (IBTA 7.6.4). In both directions the device whose
// link they pass is where they go.
LinkPassage Switch::pass_link(std::uint32_t port, Direction direction, const DatagramPacket& packet,
                              transport::Time now) {
  SwitchPort& device = *ports_[port];
  if (!device.is_impaired(direction)) return LinkPassage::passed;
  SwitchPort& maker = *datagram_makers_[packet.maker];
  FrameInFlight flight(packet.frame, packet.origin, &maker, &device);
  flight.remarks.add(packet.remarks);
  if (in_flight_.room(maker.frames_under_way) == 0) {
    flight.remarks.next().add("subnet: too many frames under way");
    dropped(flight, device.device, direction);
    return LinkPassage::no_room;
  }
  device.link->channel(direction).enter(flight, now);
  return LinkPassage::under_way;
}

void Switch::come_out(const FrameInFlight& flight, Direction passed) {
  ++arrived_.frames;
  arrived_.bytes += flight.frame.size();
  datagram_exit_->come_out(flight.frame, flight.origin, flight.to->number, passed, flight.remarks.view());
}

}  // namespace urnic::link
