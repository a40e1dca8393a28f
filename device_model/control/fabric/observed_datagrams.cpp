#include "device_model/control/fabric/observed_datagrams.hpp"

#include "device_model/control/fabric/engine_unit.hpp"
#include "device_model/control/fabric/fabric.hpp"
#include "device_model/link/observation.hpp"
#include "device_model/subnet/network.hpp"

namespace urnic::control {
namespace {

constexpr subnet::PortNumber kDevicePort = 1;  // an adapter's further ports are not the device's

link::PacketOrigin origin_of(const subnet::Passage& passage, const ServedDevice* maker, std::uint64_t count) {
  link::PacketOrigin origin{.identity = {.count = count},
                            .queue_pair = wire::Qpn{passage.datagram.source_qpn}};
  if (maker == nullptr) return origin;
  origin.identity.device = maker->index;
  origin.device = maker->settings.mac;
  return origin;
}

}  // namespace

ObservedDatagrams::ObservedDatagrams(const Fabric& fabric)
    : fabric_(fabric), unit_(fabric.infiniband_unit()) {}

// Captures come and go by tasks of this thread only.
bool ObservedDatagrams::is_observing() const { return unit_.frame_switch.is_observed(); }

const ServedDevice* ObservedDatagrams::device_at(subnet::PortPlace place) const {
  return place.port == kDevicePort ? fabric_.device_at(place.node) : nullptr;
}

// A switch has no capture points. What it sends has those of the device that receives it, and what it
// receives those of the device that has sent it.
void ObservedDatagrams::passed(const subnet::Passage& passage) {
  const ServedDevice* const sender = device_at(passage.from);
  const ServedDevice* const receiver = passage.to ? device_at(*passage.to) : nullptr;
  if (sender == nullptr && receiver == nullptr) return;
  sent_.resize(fabric_.subnet().nodes().size());  // hosts may have been added
  std::uint32_t& sent = sent_[passage.from.node].at(passage.datagram.source_qpn);
  wire::FrameStorage storage;
  const wire::Frame frame = subnet::packet_of(passage.datagram, wire::Psn(sent++), storage);
  const link::PacketOrigin origin = origin_of(passage, fabric_.device_at(passage.maker), sent);
  const ServedDevice& begin = sender != nullptr ? *sender : *receiver;
  const ServedDevice& end = receiver != nullptr ? *receiver : *sender;
  const link::Switch& shown = unit_.frame_switch;
  unit_.engine.execute([&] {
    using enum link::CapturePoint;
    shown.observe({frame, origin, before_link, begin.settings.name, link::Direction::transmit, {}});
    if (passage.to)
      shown.observe({frame, origin, after_link, end.settings.name, link::Direction::receive, {}});
    else
      shown.observe(
          {frame, origin, dropped, begin.settings.name, link::Direction::transmit, passage.obstacle});
  });
}

}  // namespace urnic::control
