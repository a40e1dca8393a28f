#include "device_model/link/switch.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
#include <stdexcept>

#include "device_model/link/outer_port.hpp"
#include "device_model/link/switch_port.hpp"
#include "wire/byte_order.hpp"
#include "wire/icrc.hpp"
#include "wire/infiniband/route_codec.hpp"

namespace urnic::link {

namespace {

constexpr std::size_t kAddressBytes = 6;
constexpr std::uint64_t kUsed = std::uint64_t{1} << 48;

std::uint64_t pack(std::span<const std::byte, kAddressBytes> address) {
  return kUsed | std::uint64_t{wire::load_be16(address.data())} << 32 | wire::load_be32(address.data() + 2);
}

std::uint64_t packed(const wire::MacAddress& address) {
  return pack(std::as_bytes(std::span<const std::uint8_t, kAddressBytes>(address.bytes)));
}

// The group bit is the first bit of an Ethernet address on the wire (IEEE 802.3 3.2.3).
bool is_group_frame(const wire::Frame& frame) {
  return frame.headers.size() >= kAddressBytes && (frame.headers[0] & std::byte{1}) != std::byte{0};
}

bool is_in_one_piece(const wire::Frame& frame) { return frame.payload.empty() && frame.trailer.empty(); }

// The source address of an Ethernet frame that a fault made; the frame is long enough.
wire::MacAddress source_of(std::span<const std::byte> frame) {
  wire::MacAddress address;
  std::memcpy(address.bytes.data(), frame.data() + kAddressBytes, kAddressBytes);
  return address;
}

// Stands for a device of another engine: this switch delivers nothing to its port.
class Elsewhere final : public FrameReceiver {
 public:
  void arrive(const wire::Frame&, const PacketOrigin&) override {}
};
Elsewhere elsewhere;

// How many links a lost frame may pass, for each frame that arrives.
constexpr std::uint32_t kLinksPassed = 4;
// The same for what happens inside a subnet whose packets take time: four for each of a dozen links.
constexpr std::uint32_t kStepsInside = 48;

}  // namespace

Switch::Switch() : routes_(8) {}
Switch::~Switch() = default;

// Multiplicative hashing: spreads consecutive addresses over the table.
std::size_t Switch::first_place(std::uint64_t address, std::size_t places) {
  const std::uint64_t mixed = address * 0x9E3779B97F4A7C15u;
  return static_cast<std::size_t>(mixed >> 32) & (places - 1);
}

SwitchPort* Switch::port_of(std::uint64_t address) const {
  const std::size_t mask = routes_.size() - 1;
  for (std::size_t i = first_place(address, routes_.size());; i = (i + 1) & mask) {
    if (routes_[i].address == address) return routes_[i].port;
    if (routes_[i].address == 0) return nullptr;
  }
}

// A payload that is longer than what observers read of the frame is not read up to its ICRC by any.
std::size_t Switch::in_place_from(const SwitchPort& from, const wire::NetworkHeaders& path) const {
  const SwitchPort* port = nullptr;
  if (path.local) {
    if (lid_fabric_ != nullptr) return kNeverInPlace;
    const LidRoutes::Way way = lid_routes_.find(from.number, path.local->destination);
    if (way.device < ports_.size()) port = ports_[way.device].get();
  } else {
    port = port_of(packed(path.destination_mac));
  }
  const bool unread = port != nullptr && port->trunk == nullptr && port->outside == nullptr &&
                      port->takes_owed_icrc && port->passes_unread(Direction::receive);
  return unread ? observed_bytes_ : kNeverInPlace;
}

void Switch::insert(std::vector<Route>& routes, const Route& route) {
  std::size_t i = first_place(route.address, routes.size());
  while (routes[i].address != 0) i = (i + 1) & (routes.size() - 1);
  routes[i] = route;
}

void Switch::grow() {
  std::vector<Route> larger(routes_.size() * 2);
  for (const Route& route : routes_)
    if (route.address != 0) insert(larger, route);
  routes_.swap(larger);
}

Port& Switch::attach(const wire::MacAddress& address, FrameReceiver& receiver, std::string_view device) {
  SwitchPort& port = add_port(address, receiver, device, nullptr);
  port.pause = &port.own_pause;
  return port;
}

Pause& Switch::pause(std::uint32_t port) { return ports_[port]->own_pause; }

void Switch::attach_remote(const wire::MacAddress& address, Trunk& trunk, std::string_view device,
                           Pause* pause) {
  add_port(address, elsewhere, device, &trunk).pause = pause;
  if (std::find(trunks_.begin(), trunks_.end(), &trunk) == trunks_.end()) trunks_.push_back(&trunk);
}

SwitchPort& Switch::add_port(const wire::MacAddress& address, FrameReceiver& receiver,
                             std::string_view device, Trunk* trunk) {
  if (port_of(packed(address)) != nullptr)
    throw std::invalid_argument("two devices on one switch have the same MAC address");
  if ((ports_.size() + 1) * 2 > routes_.size()) grow();
  ports_.push_back(std::make_unique<SwitchPort>(*this, receiver, device, ports(), trunk));
  insert(routes_, {packed(address), ports_.back().get()});
  return *ports_.back();
}

// Addresses stay in the table, without a port, because others may lie behind them.
void Switch::set_route(std::uint64_t address, SwitchPort* port) {
  const auto known = std::find_if(routes_.begin(), routes_.end(),
                                  [address](const Route& route) { return route.address == address; });
  if (known != routes_.end()) {
    known->port = port;
    return;
  }
  const auto used =
      std::count_if(routes_.begin(), routes_.end(), [](const Route& route) { return route.address != 0; });
  if ((static_cast<std::size_t>(used) + 1) * 2 > routes_.size()) grow();
  insert(routes_, {address, port});
}

void Switch::isolate(std::uint32_t port) {
  ports_[port]->isolated = true;
  for (Route& route : routes_)
    if (route.port == ports_[port].get()) route.port = nullptr;
}

// Observers see the outer end under the device's name: what is before the link came from outside.
void Switch::connect(std::uint32_t port, OuterPort& outside) {
  isolate(port);
  SwitchPort& device = *ports_[port];
  SwitchPort& end =
      *outer_ends_.emplace_back(std::make_unique<SwitchPort>(*this, outside, device.device, port));
  end.outside = &outside;
  end.far_end = &device;
  device.far_end = &end;
  device.waits_for = &outside;
}

void Switch::add_host(std::uint32_t port, OuterPort& outside, Port& entrance) {
  SwitchPort& end =
      *outer_ends_.emplace_back(std::make_unique<SwitchPort>(*this, outside, ports_[port]->device, port));
  end.outside = &outside;
  end.entrance = &entrance;
}

void Switch::join_lan(OuterPort& outside) {
  lan_ = outer_ends_.emplace_back(std::make_unique<SwitchPort>(*this, outside, "lan", ports())).get();
  lan_->outside = &outside;
  lan_->enters_here = true;
  for (const auto& port : ports_)
    if (port->far_end == nullptr) port->waits_for = &outside;
}

// The number of the LAN is that of the ports.
std::uint32_t Switch::add_station(OuterPort& outside) {
  const auto number = static_cast<std::uint32_t>(ports_.size() + 1 + outer_ends_.size());
  SwitchPort& end =
      *outer_ends_.emplace_back(std::make_unique<SwitchPort>(*this, outside, "station", number));
  end.outside = &outside;
  end.enters_here = true;
  return number;
}

void Switch::set_station(const OuterPort& outside, const std::optional<wire::MacAddress>& address) {
  const auto end = std::find_if(outer_ends_.begin(), outer_ends_.end(),
                                [&](const auto& each) { return each->outside == &outside; });
  if (address && port_of(packed(*address)) != nullptr)
    throw std::invalid_argument("another port of the switch has this MAC address");
  for (Route& route : routes_)
    if (route.port == end->get()) route.port = nullptr;
  if (address) set_route(packed(*address), end->get());
}

void Switch::join_lan_by(Trunk& trunk) {
  lan_elsewhere_ = std::make_unique<SwitchPort>(*this, elsewhere, "lan", ports(), &trunk);
  lan_ = lan_elsewhere_.get();
}

bool Switch::lan_has_room(transport::Time now) const {
  return lan_ == nullptr || lan_->outside == nullptr || lan_->outside->has_room(now);
}

SwitchPort& Switch::port_numbered(std::uint32_t number) const {
  return number < ports_.size() ? *ports_[number] : *lan_;
}

void Switch::add_observer(FrameObserver& observer) {
  observers_.push_back(&observer);
  measure_observers();
}

void Switch::remove_observer(FrameObserver& observer) {
  std::erase(observers_, &observer);
  measure_observers();
}

void Switch::measure_observers() {
  observed_bytes_ = 0;
  for (const FrameObserver* each : observers_) observed_bytes_ = std::max(observed_bytes_, each->reach());
}

void Switch::observe(const Observation& observation) const {
  if (observed_bytes_ > observation.frame.size() - wire::kIcrcBytes) wire::pay_icrc(observation.frame);
  for (FrameObserver* observer : observers_) observer->observe(observation);
}

Link& Switch::link(std::uint32_t port) {
  SwitchPort& at = *ports_[port];
  if (at.link == nullptr) {
    Forwarder& forwarder = *this;
    at.link = std::make_unique<Link>(at.number, at.device, in_flight_, forwarder);
    at.link->channel(Direction::receive).share(buffer_);
    for (const auto direction : {Direction::transmit, Direction::receive})
      at.link->channel(direction).set_pause(at.own_pause);
    links_.push_back(at.link.get());
  }
  return *at.link;
}

const Link* Switch::existing_link(std::uint32_t port) const { return ports_[port]->link.get(); }

inline SwitchPort* Switch::port_for(const wire::Frame& frame) const {
  if (frame.headers.size() < kAddressBytes) return nullptr;
  return port_of(pack(frame.headers.first<kAddressBytes>()));
}

void Switch::forward(SwitchPort& from, const wire::Frame& frame, const PacketOrigin& origin,
                     transport::Time now) {
  const bool by_lid = frame.link_layer == wire::LinkLayer::infiniband;
  if (from.enters_here && by_lid) return enter_from_station(from, frame, origin, now);
  if (from.enters_here) return enter_from_outside(from, frame, origin, now);
  if (!observers_.empty())
    observe({frame, origin, CapturePoint::before_link, from.device, Direction::transmit, {}});
  std::string_view obstacle = "switch: no port has the destination address";
  SwitchPort* to = from.far_end;
  if (to == nullptr) to = by_lid ? port_by_lid(from, frame, obstacle) : port_for(frame);
  if (to == nullptr && !by_lid && !is_group_frame(frame)) {
    to = lan_;
    unknown_destination_ += to == nullptr;
  }
  // Until it has passed the sender's link, a frame to many has its sender as its destination.
  if (to == nullptr && goes_to_many(frame)) {
    FrameInFlight flight(frame, origin, &from, &from);
    if (from.is_impaired(Direction::transmit))
      return from.link->channel(Direction::transmit).enter(flight, now);
    return flood(flight, now);
  }
  if (to == nullptr) {
    if (!observers_.empty())
      observe({frame, origin, CapturePoint::dropped, from.device, Direction::transmit, obstacle});
    return;
  }
  forward_to(*to, from, frame, origin, now);
}

// Observers see it under the name of the device that it goes to, before that device's link.
void Switch::enter_from_outside(SwitchPort& from, const wire::Frame& frame, const PacketOrigin& origin,
                                transport::Time now) {
  if (frame.headers.size() < 2 * kAddressBytes) return;
  SwitchPort* const to = port_for(frame);
  const std::string_view device = to != nullptr ? to->device : from.device;
  const SwitchPort* const source = port_of(pack(frame.headers.subspan<kAddressBytes, kAddressBytes>()));
  if (source != (&from == lan_ ? nullptr : &from)) {
    ++refused_sources_;
    if (!observers_.empty())
      observe({frame, origin, CapturePoint::dropped, device, Direction::receive,
               "switch: from outside, with the source address of another port"});
    return;
  }
  if (!observers_.empty())
    observe({frame, origin, CapturePoint::before_link, device, Direction::transmit, {}});
  if (to == nullptr && !is_group_frame(frame)) return;  // for another station
  FrameInFlight flight(frame, origin, &from, to != nullptr ? to : &from);
  hand_on(flight, Direction::transmit, now);
}

// For a frame whose destination address no port has.
bool Switch::goes_to_many(const wire::Frame& frame) const {
  if (frame.link_layer == wire::LinkLayer::infiniband) return wire::infiniband::is_to_group(frame.headers);
  if (is_group_frame(frame)) return true;
  return frame.headers.size() >= kAddressBytes && is_in_one_piece(frame) && port_for(frame) == nullptr;
}

void Switch::forward_to(SwitchPort& to, SwitchPort& from, const wire::Frame& frame,
                        const PacketOrigin& origin, transport::Time now) {
  // The bytes are in the sending engine's staging, which it keeps until its batch ends.
  const bool takes_time_inside = lid_fabric_ != nullptr && frame.link_layer == wire::LinkLayer::infiniband;
  if (!from.is_impaired(Direction::transmit) && !to.is_impaired(Direction::receive) && to.trunk == nullptr &&
      !takes_time_inside) {
    return arrive(frame, origin, to, {});
  }
  FrameInFlight flight(frame, origin, &from, &to);
  if (from.is_impaired(Direction::transmit))
    return from.link->channel(Direction::transmit).enter(flight, now);
  hand_on(flight, Direction::transmit, now);
}

// Copies are made behind the sender's link, which the frame passes once. Each copy for another engine's
// device crosses the trunk by itself.
void Switch::flood(const FrameInFlight& flight, transport::Time now) {
  if (flight.frame.link_layer == wire::LinkLayer::infiniband) return copy_to_members(flight, now);
  const bool to_group = is_group_frame(flight.frame);
  for (const auto& port : ports_) {
    if (port->isolated || (!to_group && port.get() == flight.from)) continue;
    copy_to(*port, flight, now);
  }
  for (const auto& end : outer_ends_)
    if (end->enters_here && end.get() != lan_ && end.get() != flight.from)
      arrive(flight.frame, flight.origin, *end, flight.remarks.view());
  if (lan_ == nullptr || flight.from == lan_) return;
  if (lan_->trunk == nullptr) return arrive(flight.frame, flight.origin, *lan_, flight.remarks.view());
  FrameInFlight copy(flight);
  copy.slot = nullptr;
  copy.to = lan_;
  put_on_trunk(copy, *lan_, Onward::through_link, now);
}

void Switch::copy_to(SwitchPort& port, const FrameInFlight& flight, transport::Time now) {
  if (!port.is_impaired(Direction::receive) && port.trunk == nullptr)
    return arrive(flight.frame, flight.origin, port, flight.remarks.view());
  FrameInFlight copy(flight);
  copy.slot = nullptr;  // other copies need its bytes, too
  copy.to = &port;
  if (port.trunk != nullptr) return put_on_trunk(copy, port, Onward::through_link, now);
  port.link->channel(Direction::receive).enter(copy, now);
}

void Switch::hand_on(FrameInFlight& flight, Direction passed, transport::Time now) {
  SwitchPort& to = *flight.to;
  if (flight.is_damaged) [[unlikely]]
    return arrive_damaged(flight, passed);
  if (!datagram_makers_.empty() && flight.from->makes_datagrams) return come_out(flight, passed);
  if (passed == Direction::transmit) {
    if (flight.from->is_impaired(Direction::transmit)) count_way(flight);
    if (flight.to == flight.from && goes_to_many(flight.frame)) return flood(flight, now);
    if (flight.frame.link_layer == wire::LinkLayer::infiniband && lid_fabric_ != nullptr &&
        flight.to != flight.from)
      return enter_subnet(flight, now);
    if (to.trunk != nullptr) return put_on_trunk(flight, to, Onward::through_link, now);
    if (to.is_impaired(Direction::receive)) return to.link->channel(Direction::receive).enter(flight, now);
  }
  arrive(flight.frame, flight.origin, to, flight.remarks.view());
}

void Switch::arrive(const wire::Frame& frame, const PacketOrigin& origin, SwitchPort& to,
                    std::string_view remarks) {
  if (!observers_.empty())
    observe({frame, origin, CapturePoint::after_link, to.device, Direction::receive, remarks});
  ++arrived_.frames;
  arrived_.bytes += frame.size();
  if (!to.takes_owed_icrc) wire::pay_icrc(frame);
  to.receiver.arrive(frame, origin);
}

void Switch::dropped(const FrameInFlight& flight, std::string_view device, Direction where) {
  if (!observers_.empty())
    observe({flight.frame, flight.origin, CapturePoint::dropped, device, where, flight.remarks.view()});
}

void Switch::answer(const FrameInFlight& flight, std::span<const std::byte> frame, wire::Qpn by,
                    transport::Time now) {
  const wire::LinkLayer link_layer = flight.frame.link_layer;
  FrameInFlight answer({.headers = frame, .payload = {}, .trailer = {}, .link_layer = link_layer},
                       flight.origin, flight.to, flight.from);
  answer.origin.queue_pair = by;
  answer.origin.device = link_layer == wire::LinkLayer::ethernet ? source_of(frame) : wire::MacAddress{};
  answer.origin.selective_acks = transport::SelectiveAcks::unknown;
  answer.remarks.add("made by a fault: ").add(flight.remarks.view());
  SwitchPort& to = *answer.to;
  if (to.trunk != nullptr) return put_on_trunk(answer, to, Onward::to_device, now);
  PooledFrame* const slot = in_flight_.copy(answer.frame, *answer.from);
  if (slot == nullptr) {
    answer.remarks.next().add("switch: too many frames under way");
    return dropped(answer, to.device, Direction::receive);
  }
  in_flight_.retire(slot);
  arrive(slot->frame(), answer.origin, to, answer.remarks.view());
}

void Switch::link_changed(std::uint32_t port, bool up) {
  ports_[port]->receiver.link_changed(up);
  lid_routes_.tell_watcher();
}

bool Switch::trunks_have_room() const {
  return std::all_of(trunks_.begin(), trunks_.end(), [](const Trunk* trunk) { return trunk->has_room(); });
}

bool Switch::is_station(const SwitchPort& port) const { return port.enters_here && &port != lan_; }

// Devices check for room before they send, so only what they do not send can overflow a trunk: a burst out of
// a link that delays. The other switch knows no station.
void Switch::put_on_trunk(FrameInFlight& flight, SwitchPort& to, Onward onward, transport::Time now) {
  if (is_station(*flight.from)) {
    ++unknown_destination_;
    flight.remarks.next().add("switch: from a station, for a device of another engine");
    return dropped(flight, flight.from->device, Direction::transmit);
  }
  if (to.trunk->put(flight, flight.from->number, to.number, onward, now)) return;
  ++trunk_overruns_;
  flight.remarks.next().add("switch: no room on the way to the receiver's engine");
  dropped(flight, flight.from->device, Direction::transmit);
}

void Switch::arrive_by_trunk(const Trunk::Passenger& passenger, transport::Time now) {
  SwitchPort& to = port_numbered(passenger.to);
  if (passenger.onward == Onward::to_device || !to.is_impaired(Direction::receive))
    return arrive(passenger.frame, passenger.origin, to, passenger.remarks.view());
  FrameInFlight flight(passenger.frame, passenger.origin, &port_numbered(passenger.from), &to);
  flight.remarks = passenger.remarks;
  hand_on(flight, Direction::transmit, now);
}

Load Switch::deliver_due(transport::Time now, const Load& most) {
  for (Link* link : links_) link->look(now);
  arrived_ = {};
  for (const auto& end : outer_ends_) {
    Port& entrance = end->entrance != nullptr ? *end->entrance : *end;
    end->outside->take(entrance, now, most);
  }
  const std::uint32_t steps = (lid_fabric_ != nullptr ? kStepsInside : kLinksPassed) * most.frames;
  for (std::uint32_t passed = 0; passed < steps; ++passed) {
    if (arrived_.frames >= most.frames || arrived_.bytes >= most.bytes) break;
    if (lid_fabric_ != nullptr && subnet_is_next()) {
      const auto due = lid_fabric_->next_due();
      if (*due > now) break;
      lid_fabric_->pass_next();
      continue;
    }
    const auto departure = in_flight_.take_due(now);
    if (!departure) break;
    departure->item->channel->leave(*departure->item, departure->due);
  }
  return arrived_;
}

// What leaves may lie in the slots that are released.
void Switch::release() {
  flush();
  for (const auto& end : outer_ends_) end->outside->release();
  in_flight_.release();
}

bool Switch::owes_release() const {
  return in_flight_.owes_release() ||
         std::any_of(outer_ends_.begin(), outer_ends_.end(),
                     [](const auto& end) { return end->outside->unreleased() != 0; });
}

void Switch::flush() {
  for (const auto& end : outer_ends_) end->outside->flush();
}

void Switch::woken() {
  for (const auto& end : outer_ends_) end->outside->woken();
}

std::uint32_t Switch::count() const {
  std::uint32_t frames = in_flight_.in_use();
  for (const auto& end : outer_ends_) frames += end->outside->unreleased();
  return frames;
}

std::optional<transport::Time> Switch::next_due() const {
  std::optional<transport::Time> next = next_frame_due();
  for (const Link* link : links_) {
    const auto look = link->next_look();
    if (look && (!next || *look < *next)) next = look;
  }
  for (const auto& end : outer_ends_) {
    const auto due = end->outside->next_due();
    if (due && (!next || *due < *next)) next = due;
  }
  return next;
}

bool Switch::overdue(transport::Time now) const {
  const auto due = next_frame_due();
  return due && *due <= now;
}

bool Switch::takes_time() const {
  if (lid_fabric_ != nullptr) return true;
  return std::any_of(links_.begin(), links_.end(), [](const Link* link) { return link->takes_time(); });
}

}  // namespace urnic::link
