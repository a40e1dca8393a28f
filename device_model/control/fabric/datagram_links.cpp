#include "device_model/control/fabric/datagram_links.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "device_model/control/fabric/engine_unit.hpp"
#include "device_model/control/fabric/fabric.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/link/remarks.hpp"
#include "device_model/subnet/network.hpp"

namespace urnic::control {
namespace {

using link::CapturePoint;
using link::Direction;

constexpr subnet::PortNumber kDevicePort = 1;  // an adapter's further ports are not the device's
// Datagrams taken before other descriptors of the loop have their turn. Each may make some more, and wait for
// the engine on some links.
constexpr std::uint32_t kPerTurn = 64;

// A maker's queue pair as the sender of packets: beside the numbers of devices, whose own packets are counted
// by themselves.
constexpr std::uint32_t kMaker = 0x8000'0000;
constexpr unsigned kQueuePairShift = 30;
constexpr std::uint32_t kMakerMask = (1u << kQueuePairShift) - 1;

wire::Frame frame_of(const subnet::Packet& packet, wire::FrameStorage& storage) {
  const auto psn = static_cast<std::uint32_t>(packet.number - 1) & wire::Psn::kMask;
  return subnet::packet_of(packet.datagram, wire::Psn(psn), storage);
}

link::Remarks with_remark(std::string_view before, std::string_view more) {
  link::Remarks all;
  all.add(before).next().add(more);
  return all;
}

}  // namespace

DatagramLinks::DatagramLinks(Fabric& fabric)
    : fabric_(fabric),
      unit_(fabric.infiniband_unit()),
      waiting_(fabric.subnet().nodes().size() + 1),
      dropped_(fabric.devices().size()) {
  unit_.frame_switch.set_datagram_exit(*this, static_cast<std::uint32_t>(waiting_.size()));
}

const ServedDevice* DatagramLinks::device_at(subnet::PortPlace place) const {
  return place.port == kDevicePort ? fabric_.device_at(place.node) : nullptr;
}

// Captures and links come by tasks of this thread only.
bool DatagramLinks::acts(const ServedDevice& device) const {
  const link::Switch& home = unit_.frame_switch;
  return home.is_observed() || home.existing_link(device.index) != nullptr;
}

link::PacketOrigin DatagramLinks::origin_of(const subnet::Packet& packet) const {
  const std::uint32_t queue_pair = packet.datagram.source_qpn;
  const ServedDevice* const maker = fabric_.device_at(packet.maker);
  return {
      .identity = {.device = kMaker | queue_pair << kQueuePairShift | packet.maker, .count = packet.number},
      .queue_pair = wire::Qpn{queue_pair},
      .device = maker != nullptr ? maker->settings.mac : wire::MacAddress{}};
}

// A switch has no capture points. What it sends has those of the device that receives it, and what it
// receives those of the device that has sent it.
bool DatagramLinks::leave(const subnet::Packet& packet) {
  const ServedDevice* const sender = device_at(packet.from);
  if (sender == nullptr || !acts(*sender)) return true;
  return cross(packet, *sender, Direction::transmit, true);
}

bool DatagramLinks::arrive(const subnet::Packet& packet, subnet::PortPlace to) {
  const ServedDevice* const sender = device_at(packet.from);
  const ServedDevice* const receiver = device_at(to);
  if (receiver != nullptr)
    return !acts(*receiver) || cross(packet, *receiver, Direction::receive, sender == nullptr);
  if (sender != nullptr) show(packet, CapturePoint::after_link, *sender, Direction::receive, packet.remarks);
  return true;
}

void DatagramLinks::stick(const subnet::Packet& packet, std::string_view why) {
  const ServedDevice* const sender = device_at(packet.from);
  if (sender == nullptr) return;
  show(packet, CapturePoint::dropped, *sender, Direction::transmit, with_remark(packet.remarks, why).view());
}

void DatagramLinks::refuse(const subnet::Packet& packet, subnet::PortPlace at, std::string_view why) {
  const ServedDevice* const receiver = device_at(at);
  if (receiver == nullptr) return;
  show(packet, CapturePoint::dropped, *receiver, Direction::receive, with_remark(packet.remarks, why).view());
}

void DatagramLinks::show(const subnet::Packet& packet, CapturePoint point, const ServedDevice& device,
                         Direction direction, std::string_view remarks) const {
  const link::Switch& shown = unit_.frame_switch;
  if (!shown.is_observed()) return;
  wire::FrameStorage storage;
  const wire::Frame frame = frame_of(packet, storage);
  const link::PacketOrigin origin = origin_of(packet);
  unit_.engine.execute([&] {
    shown.observe({frame, origin, point, device.settings.name, direction, remarks});
  });
}

// Whether the packet has passed the device's link. `is_first`: it enters no other link before.
bool DatagramLinks::cross(const subnet::Packet& packet, const ServedDevice& device, Direction direction,
                          bool is_first) {
  wire::FrameStorage storage;
  const wire::Frame frame = frame_of(packet, storage);
  const link::PacketOrigin origin = origin_of(packet);
  link::Switch& home = unit_.frame_switch;
  const std::string_view name = device.settings.name;
  auto passage = link::LinkPassage::passed;
  unit_.engine.execute([&] {
    if (is_first) home.observe({frame, origin, CapturePoint::before_link, name, Direction::transmit, {}});
    passage = home.pass_link(device.index, direction, {frame, origin, share_of(packet.maker), packet.remarks},
                             unit_.engine.now());
    if (passage == link::LinkPassage::no_room) ++dropped_[device.index].of(origin.queue_pair, direction);
    if (passage == link::LinkPassage::passed && direction == Direction::receive)
      home.observe({frame, origin, CapturePoint::after_link, name, direction, packet.remarks});
  });
  return passage == link::LinkPassage::passed;
}

std::uint32_t DatagramLinks::share_of(subnet::NodeIndex maker) const {
  return std::min(maker, static_cast<std::uint32_t>(waiting_.size() - 1));
}

// Inside Engine::execute, or on the engine's thread.
void DatagramLinks::come_out(const wire::Frame& frame, const link::PacketOrigin& origin, std::uint32_t port,
                             Direction passed, std::string_view remarks) {
  const ServedDevice& device = *fabric_.devices()[port];
  if (passed == Direction::receive)
    unit_.frame_switch.observe(
        {frame, origin, CapturePoint::after_link, device.settings.name, passed, remarks});
  wire::ParsedFrame parsed;
  if (wire::parse(frame, parsed) != wire::ParseError::none)
    return end_broken(frame, origin, device, passed, remarks);
  const std::uint32_t maker = origin.identity.device & kMakerMask;
  const bool has_share = waiting_[share_of(maker)].load(std::memory_order_relaxed) < arrived_.free_entries();
  Arrived* const entry = has_share ? arrived_.free_entry() : nullptr;
  if (entry == nullptr || frame.size() > entry->packet.size()) {
    ++dropped_[port].of(origin.queue_pair, passed);
    const std::string_view why = entry == nullptr ? "subnet: too many management datagrams wait"
                                                  : "subnet: too long for a management datagram";
    return unit_.frame_switch.observe({frame, origin, CapturePoint::dropped, device.settings.name, passed,
                                       with_remark(remarks, why).view()});
  }
  entry->port = port;
  entry->passed = passed;
  entry->maker = maker;
  entry->number = origin.identity.count;
  entry->bytes = static_cast<std::uint32_t>(frame.size());
  wire::copy_whole(frame, entry->packet.data());
  entry->remark_bytes = static_cast<std::uint32_t>(std::min(remarks.size(), entry->remarks.size()));
  std::copy_n(remarks.begin(), entry->remark_bytes, entry->remarks.begin());
  waiting_[share_of(maker)].fetch_add(1, std::memory_order_relaxed);
  arrived_.publish();
  arrival_.announce();
}

// A fault has made a packet of it that cannot be, with right CRCs. The port that gets it drops and counts it
// (IBTA 16.1.3.5: PortRcvErrors). One that is damaged does not come here: the port does the same.
void DatagramLinks::end_broken(const wire::Frame& frame, const link::PacketOrigin& origin,
                               const ServedDevice& device, Direction passed, std::string_view remarks) {
  if (passed == Direction::receive) return device.device->receiver().arrive(frame, origin);
  link::LidRoutes& routes = unit_.frame_switch.lid_routes();
  const auto own = routes.port_of_device(device.index);
  const auto peer = own ? routes.receiver_from(*own) : std::nullopt;
  // Two devices may be cabled to each other.
  const ServedDevice* const receiver = peer ? fabric_.device_at(peer->node) : nullptr;
  const ServedDevice& seen_at = receiver != nullptr ? *receiver : device;
  unit_.frame_switch.observe(
      {frame, origin, CapturePoint::after_link, seen_at.settings.name, Direction::receive, remarks});
  if (receiver != nullptr) return receiver->device->receiver().arrive(frame, origin);
  if (peer) ++routes.counters(*peer).receive_errors;
}

void DatagramLinks::take_arrivals() {
  arrival_.take();
  arrival_.release();
  std::uint32_t taken = 0;
  for (; taken < kPerTurn; ++taken) {
    const Arrived* const arrived = arrived_.front();
    if (arrived == nullptr) break;
    const subnet::PortPlace place{*fabric_.devices()[arrived->port]->adapter, kDevicePort};
    const Direction passed = arrived->passed;
    std::optional<subnet::Packet> packet = packet_of(*arrived);
    waiting_[share_of(arrived->maker)].fetch_sub(1, std::memory_order_relaxed);
    arrived_.pop();
    if (!packet) continue;
    packet->from = place;
    if (passed == Direction::transmit)
      fabric_.subnet().come_out(std::move(*packet));
    else
      fabric_.subnet().come_in(place, std::move(*packet));
  }
  if (taken == kPerTurn) arrival_.announce();
  if (taken != 0) fabric_.subnet().settle();
}

// Empty: a fault has made something else of it.
std::optional<subnet::Packet> DatagramLinks::packet_of(const Arrived& arrived) const {
  const wire::Frame frame{.headers = std::span(arrived.packet).first(arrived.bytes),
                          .payload = {},
                          .trailer = {},
                          .link_layer = wire::LinkLayer::infiniband};
  wire::ParsedFrame parsed;
  const bool is_packet = wire::parse(frame, parsed) == wire::ParseError::none;
  const auto datagram = is_packet ? subnet::datagram_of(parsed) : std::nullopt;
  if (!datagram) {
    show_other(arrived, frame);
    return {};
  }
  return subnet::Packet{.maker = arrived.maker,
                        .number = arrived.number,
                        .datagram = *datagram,
                        .remarks = std::string(arrived.remarks.data(), arrived.remark_bytes)};
}

void DatagramLinks::show_other(const Arrived& arrived, const wire::Frame& frame) const {
  const link::Switch& shown = unit_.frame_switch;
  if (!shown.is_observed()) return;
  const std::string_view name = fabric_.devices()[arrived.port]->settings.name;
  const link::Remarks remarks = with_remark({arrived.remarks.data(), arrived.remark_bytes},
                                            "subnet: not for this queue pair, or without its Q_Key or class");
  const link::PacketOrigin origin{.identity = {.device = kMaker | arrived.maker, .count = arrived.number}};
  unit_.engine.execute([&] {
    shown.observe({frame, origin, CapturePoint::dropped, name, arrived.passed, remarks.view()});
  });
}

std::uint64_t& DroppedDatagrams::of(wire::Qpn queue_pair, Direction direction) {
  if (queue_pair.value == 0) return subnet_management;
  return direction == Direction::receive ? general_received : general_sent;
}

DroppedDatagrams DatagramLinks::dropped(const ServedDevice& device) const { return dropped_[device.index]; }

}  // namespace urnic::control
