#include "device_model/control/fabric/datagram_links.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "device_model/control/fabric/engine_unit.hpp"
#include "device_model/control/fabric/fabric.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/subnet/network.hpp"

namespace urnic::control {
namespace {

using link::CapturePoint;
using link::Direction;

constexpr subnet::PortNumber kDevicePort = 1;  // an adapter's further ports are not the device's
// Datagrams taken before other descriptors of the loop have their turn. Each may make some more.
constexpr std::uint32_t kPerTurn = 256;

// A maker's queue pair as the sender of packets: beside the numbers of devices, whose own packets are counted
// by themselves.
constexpr std::uint32_t kMaker = 0x8000'0000;
constexpr unsigned kQueuePairShift = 30;
constexpr std::uint32_t kMakerMask = (1u << kQueuePairShift) - 1;

wire::Frame frame_of(const subnet::Packet& packet, wire::FrameStorage& storage) {
  const auto psn = static_cast<std::uint32_t>(packet.number - 1) & wire::Psn::kMask;
  return subnet::packet_of(packet.datagram, wire::Psn(psn), storage);
}

}  // namespace

DatagramLinks::DatagramLinks(Fabric& fabric)
    : fabric_(fabric),
      unit_(fabric.infiniband_unit()),
      waiting_(fabric.subnet().nodes().size() + 1),
      dropped_(fabric.devices().size()),
      arrival_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!arrival_) throw std::system_error(errno, std::generic_category(), "subnet management: eventfd");
  unit_.frame_switch.set_datagram_exit(*this);
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
  const std::string remarks =
      packet.remarks.empty() ? std::string(why) : packet.remarks + "; " + std::string(why);
  show(packet, CapturePoint::dropped, *sender, Direction::transmit, remarks);
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
    passage = home.pass_link(device.index, direction, frame, origin, packet.remarks, unit_.engine.now());
    dropped_[device.index] += passage == link::LinkPassage::no_room;
    if (passage == link::LinkPassage::passed && direction == Direction::receive)
      home.observe({frame, origin, CapturePoint::after_link, name, direction, packet.remarks});
  });
  return passage == link::LinkPassage::passed;
}

std::atomic<std::uint32_t>& DatagramLinks::waiting_of(std::uint32_t maker) {
  return waiting_[std::min<std::size_t>(maker, waiting_.size() - 1)];
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
    return refuse(frame, origin, device, passed, remarks);
  const std::uint32_t maker = origin.identity.device & kMakerMask;
  const bool has_share = waiting_of(maker).load(std::memory_order_relaxed) < kArrivedOfMaker;
  Arrived* const entry = has_share ? arrived_.free_entry() : nullptr;
  if (entry == nullptr || frame.size() > entry->packet.size()) {
    ++dropped_[port];
    return;
  }
  entry->port = port;
  entry->passed = passed;
  entry->maker = maker;
  entry->number = origin.identity.count;
  entry->bytes = static_cast<std::uint32_t>(frame.size());
  wire::copy_whole(frame, entry->packet.data());
  entry->remark_bytes = static_cast<std::uint32_t>(std::min(remarks.size(), entry->remarks.size()));
  std::copy_n(remarks.begin(), entry->remark_bytes, entry->remarks.begin());
  waiting_of(maker).fetch_add(1, std::memory_order_relaxed);
  arrived_.publish();
  announce();
}

// A fault has made a packet of it that cannot be, with right CRCs. The port that gets it drops and counts it
// (IBTA 16.1.3.5: PortRcvErrors). One that is damaged does not come here: the port does the same.
void DatagramLinks::refuse(const wire::Frame& frame, const link::PacketOrigin& origin,
                           const ServedDevice& device, Direction passed, std::string_view remarks) {
  if (passed == Direction::receive) return device.device->receiver().arrive(frame, origin);
  unit_.frame_switch.observe(
      {frame, origin, CapturePoint::after_link, device.settings.name, Direction::receive, remarks});
  count_at_switch(device);
}

void DatagramLinks::count_at_switch(const ServedDevice& device) {
  link::LidRoutes& routes = unit_.frame_switch.lid_routes();
  const auto own = routes.port_of_device(device.index);
  if (!own) return;
  const link::LidPort& port = routes.node(own->node).ports.at(own->port);
  ++routes.counters({port.peer_node, port.peer_port}).receive_errors;
}

// One system call for as many datagrams as come out before the control thread looks.
void DatagramLinks::announce() {
  if (!announced_.exchange(true, std::memory_order_acq_rel)) eventfd_write(arrival_.get(), 1);
}

void DatagramLinks::take_arrivals() {
  eventfd_t ignored = 0;
  eventfd_read(arrival_.get(), &ignored);
  announced_.exchange(false, std::memory_order_acq_rel);
  for (std::uint32_t taken = 0; taken < kPerTurn; ++taken) {
    const Arrived* const arrived = arrived_.front();
    if (arrived == nullptr) return;
    const ServedDevice& device = *fabric_.devices()[arrived->port];
    const subnet::PortPlace place{*device.adapter, kDevicePort};
    const Direction passed = arrived->passed;
    std::optional<subnet::Packet> packet = packet_of(*arrived);
    waiting_of(arrived->maker).fetch_sub(1, std::memory_order_relaxed);
    arrived_.pop();
    if (!packet) continue;
    packet->from = place;
    if (passed == Direction::transmit)
      fabric_.subnet().come_out(std::move(*packet));
    else
      fabric_.subnet().come_in(place, std::move(*packet));
  }
  announce();
}

// Empty: a fault has made something else of it.
std::optional<subnet::Packet> DatagramLinks::packet_of(const Arrived& arrived) {
  const wire::Frame frame{.headers = std::span(arrived.packet).first(arrived.bytes),
                          .payload = {},
                          .trailer = {},
                          .link_layer = wire::LinkLayer::infiniband};
  wire::ParsedFrame parsed;
  if (wire::parse(frame, parsed) != wire::ParseError::none) return {};
  const auto datagram = subnet::datagram_of(parsed);
  if (!datagram) return {};
  return subnet::Packet{.maker = arrived.maker,
                        .number = arrived.number,
                        .datagram = *datagram,
                        .remarks = std::string(arrived.remarks.data(), arrived.remark_bytes)};
}

std::uint64_t DatagramLinks::dropped(const ServedDevice& device) const { return dropped_[device.index]; }

}  // namespace urnic::control
