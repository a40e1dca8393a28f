// What a node does with a packet that has arrived: a switch forwards it (IBTA 18.2.4), an adapter hands it to
// its device.
#include "device_model/link/frame_pool.hpp"
#include "device_model/link/subnet_links/timed_subnet.hpp"
#include "wire/infiniband/local_route_header.hpp"
#include "wire/infiniband/route_codec.hpp"
#include "wire/infiniband/variant_crc.hpp"

namespace urnic::link {
namespace {

// A subnet has no longer way; tables may have circles.
constexpr std::uint8_t kMostHops = 64;

}  // namespace

// A link that went down meanwhile has lost it.
void TimedSubnet::arrive(LidPlace place, std::uint32_t number, transport::Time now) {
  Packet& packet = packets_[number];
  if (routes_.active_port(stays_[packet.stay].sender) == nullptr)
    return discard(number, {}, "a link went down while the packet was on it", now);
  LidPortCounters& counters = routes_.counters(place);
  ++counters.received_packets;
  counters.received_bytes += packet.bytes - wire::infiniband::kVariantCrcBytes;
  packet.arrived = now;
  if (routes_.node(place.node).has_device()) return arrive_at_device(place, number, now);
  if (!may_go_on(packet)) return discard(number, {}, "the routes go round in a circle", now);
  forward(place, number, now);
}

// More arrivals than there are switches: the group's tables have a circle, and copies would multiply in it.
bool TimedSubnet::may_go_on(Packet& packet) {
  if (packet.group != kNoRecord && ++groups_[packet.group].arrivals > switches_) return false;
  return ++packet.hops < kMostHops;
}

void TimedSubnet::arrive_at_device(LidPlace place, std::uint32_t number, transport::Time now) {
  const LidNode& node = routes_.node(place.node);
  const wire::Lid destination = wire::infiniband::destination_of(packets_[number].frame->whole());
  if (!wire::is_multicast(destination) && !wire::has_lid(node.lid, node.lmc, destination))
    return discard(number, {}, "the port at the end has another LID", now);
  nodes_[place.node].arrived.push(packets_, number);
  hand_to_device(place.node, now);
}

// A device whose own link is busy leaves them in the buffer, which keeps the sender waiting. Observers of
// what arrives see the lane of the last link.
void TimedSubnet::hand_to_device(std::uint32_t number, transport::Time now) {
  Node& node = nodes_[number];
  const std::uint32_t device = routes_.node(number).device;
  while (!node.arrived.empty() && !node.device_is_busy) {
    Packet& packet = packets_[node.arrived.front()];
    const transport::Time at = exit_.takes_at(device, packet.frame->size, now);
    if (at > now) {
      node.device_is_busy = true;
      schedule(at, {.kind = Kind::device_takes, .place = {number, 1}});
      return;
    }
    const std::uint32_t first = node.arrived.pop(packets_);
    wire::infiniband::set_virtual_lane(packet.frame->bytes.data(), stays_[packet.stay].lane);
    exit_.leave(*packet.frame, device, now);
    release(first, now);
  }
}

void TimedSubnet::forward(LidPlace place, std::uint32_t number, transport::Time now) {
  const LidNode& node = routes_.node(place.node);
  const wire::Lid destination = wire::infiniband::destination_of(packets_[number].frame->whole());
  if (wire::is_multicast(destination)) return forward_to_group(place, destination, number, now);
  const auto port = node.route_to(destination);
  if (!port) return discard(number, {}, "a switch has no route to the LID", now);
  if (*port == 0) return discard(number, {}, "a switch itself takes no data", now);
  leave_by({place.node, *port}, place.port, number, now);
}

// Out of all ports of the group but the one by which it came. The buffer is free when all copies have left.
void TimedSubnet::forward_to_group(LidPlace place, wire::Lid group, std::uint32_t number,
                                   transport::Time now) {
  const LidNode& node = routes_.node(place.node);
  const LidPortSet* const ports = node.ports_of_group(group);
  std::optional<LidPlace> last;
  for (std::size_t port = 1; ports != nullptr && port < node.ports.size(); ++port) {
    if (port == place.port || !ports->test(port)) continue;
    if (last) {
      const std::uint32_t another = copy(number);
      if (another == kNoRecord) {
        ++routes_.counters(*last).discards;
      } else {
        leave_by(*last, place.port, another, now);
      }
    }
    last = LidPlace{place.node, static_cast<std::uint8_t>(port)};
  }
  if (!last) return discard(number, {}, "a switch has no port for the group", now);
  leave_by(*last, place.port, number, now);
}

// kNoRecord: there is no room for it.
std::uint32_t TimedSubnet::copy(std::uint32_t number) {
  PooledFrame* const frame = exit_.copy(*packets_[number].frame);
  if (frame == nullptr) return kNoRecord;
  Packet packet = packets_[number];
  packet.frame = frame;
  const std::uint32_t another = packets_.take(packet);
  if (another == kNoRecord) {
    exit_.lose(*frame, "too many packets are in the subnet");
  } else {
    ++stays_[packet.stay].copies;
    ++groups_[packet.group].copies;
  }
  return another;
}

// The SL of the packet and the ports by which it comes and goes choose its lane. What gets VL 15 so, or a
// lane that the port does not have, is dropped (IBTA 7.6.6).
void TimedSubnet::leave_by(LidPlace out, std::uint8_t input, std::uint32_t number, transport::Time now) {
  if (out.port >= nodes_[out.node].outputs.size() || routes_.active_port(out) == nullptr) {
    const bool exists = out.port < routes_.node(out.node).ports.size();
    return discard(number, exists ? std::optional(out) : std::nullopt, "a port on the way is not active",
                   now);
  }
  const std::uint8_t lane = rules(out).lane_of[input][packets_[number].service_level];
  if (lane >= lanes_of(out))
    return discard(number, out, "its service level has no virtual lane at a port", now);
  queue_up(out, lane, input, number, now);
}

}  // namespace urnic::link
