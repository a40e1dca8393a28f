#include "device_model/control/gsi/gsi.hpp"

#include <sys/epoll.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "device_model/control/fabric/engine_unit.hpp"
#include "device_model/control/fabric/partition_table.hpp"
#include "device_model/control/fabric/udp_source_port.hpp"
#include "device_model/control/fabric/udp_wire.hpp"
#include "device_model/control/gsi/counted_nodes.hpp"
#include "device_model/control/gsi/performance_agent.hpp"
#include "device_model/engine/engine.hpp"
#include "device_model/subnet/network.hpp"
#include "wire/mad/mad_header.hpp"
#include "wire/mad/smp.hpp"

namespace urnic::control {
namespace {

using wire::mad::ManagementClass;
using wire::mad::Method;

// MADs taken before other descriptors of the loop have their turn.
constexpr unsigned kMadsPerTurn = 64;
constexpr std::uint16_t kClassPortInfo = 1;  // of every class (IBTA 13.4.8.1)

GsiAddress address_of(const engine::ArrivedDatagram& datagram) {
  return {.own = {datagram.own},
          .peer = {datagram.peer},
          .peer_mac = wire::MacAddress{datagram.peer_mac},
          .peer_qpn = wire::Qpn{datagram.peer_qpn},
          .pkey_index = datagram.pkey_index,
          .hop_limit = datagram.hop_limit,
          .traffic_class = datagram.traffic_class,
          .flow_label = datagram.flow_label,
          .lid = datagram.peer_lid,
          .service_level = datagram.service_level};
}

bool is_request(Method method) { return method == Method::get || method == Method::set; }

// What Linux's ib_mad lets through to its agents on QP1.
bool belongs_on_qp1(MadBytes mad, wire::mad::MadHeader& header) {
  if (wire::mad::decode(mad, header) != wire::mad::MadError::none) return false;
  if (is_subnet_management(header.management_class)) return false;
  if (header.management_class != ManagementClass::communication) return true;
  return header.method == Method::send || header.attribute.value == kClassPortInfo;
}

}  // namespace

std::optional<std::uint32_t> gid_index(const ServedDevice& device, const wire::Gid& gid) {
  const auto& gids = device.settings.gids;
  const auto found = std::find(gids.begin(), gids.end(), gid);
  if (found == gids.end() || gid == wire::Gid{}) return {};
  return static_cast<std::uint32_t>(found - gids.begin());
}

struct Gsi::Impl {
  Impl(EventLoop& loop, Fabric& its_fabric) : fabric(its_fabric) {
    for (const auto& device : fabric.devices()) performance.emplace_back(counters_of_device(fabric, *device));
    looked_at.reserve(fabric.units().size());
    for (const auto& unit : fabric.units()) {
      watches.emplace_back(loop, unit->management.arrival_descriptor(), EPOLLIN,
                           [this, &traffic = unit->management](std::uint32_t) { take_announced(traffic); });
    }
  }

  void take_announced(engine::ManagementTraffic& traffic) {
    traffic.expect_arrivals();
    note_traffic();
    take_arrivals(traffic);
  }

  void take_arrivals(engine::ManagementTraffic& traffic) {
    for (unsigned taken = 0; taken < kMadsPerTurn; ++taken) {
      const engine::ArrivedDatagram* const datagram = traffic.next_arrival();
      if (datagram == nullptr) return;
      take(*fabric.devices()[datagram->queue_pair->device_number()], address_of(*datagram), datagram->mad);
      traffic.taken();
    }
    traffic.leave_the_rest();
  }

  void take(ServedDevice& device, const GsiAddress& from, MadBytes mad) {
    wire::mad::MadHeader header;
    if (!belongs_on_qp1(mad, header)) {
      ++device.gsi.unclaimed;
      return;
    }
    if (offer(device, from, header, mad)) return;
    if (const auto answer = performance[device.index].answer(header, mad)) {
      send(device, from, *answer);
    } else if (other && other(device, from, mad)) {
      return;
    } else if (is_request(header.method)) {
      refuse(device, from, header, mad);
    } else {
      ++device.gsi.unclaimed;
    }
  }

  bool offer(ServedDevice& device, const GsiAddress& from, const wire::mad::MadHeader& header, MadBytes mad) {
    const auto handler =
        handlers.find({static_cast<std::uint8_t>(header.management_class), header.class_version});
    return handler != handlers.end() && handler->second(device, from, mad);
  }

  // The rest of the MAD as it came, as Linux does.
  void refuse(ServedDevice& device, const GsiAddress& from, wire::mad::MadHeader header, MadBytes mad) {
    ++device.gsi.unsupported;
    wire::mad::Mad answer;
    std::copy(mad.begin(), mad.end(), answer.begin());
    header.method = Method::get_response;
    header.status = wire::mad::MadStatus::unsupported_method_and_attribute;
    encode(header, answer);
    send(device, from, answer);
  }

  std::optional<wire::NetworkHeaders> path(const ServedDevice& device, const GsiAddress& to) const {
    const auto mac = to.peer_mac ? to.peer_mac : fabric.resolve(device, to.own, to.peer);
    if (!mac) return {};
    const std::uint16_t port = udp_source_port(to.flow_label, engine::kGeneralServicesQpn, to.peer_qpn);
    return wire::NetworkHeaders{
        .destination_mac = *mac,
        .source_mac = device.settings.mac,
        .destination = to.peer,
        .source = to.own,
        .vlan_tag = wire::vlan_tag(vlan_of(device, to.own), to.service_level),
        .traffic_class = to.traffic_class,
        .flow_label = to.flow_label & kFlowLabelMask,
        .udp_source = device.udp != nullptr ? device.udp->port.source_port(to.own, port) : port};
  }

  // Within the subnet, without a GRH.
  GsiSent send_by_lid(ServedDevice& device, const GsiAddress& to, MadBytes mad) {
    const wire::Lid own = fabric.subnet().port(*device.adapter).lid;
    const auto pkey = pkey_at(fabric, device, to.pkey_index);
    if (own == wire::Lid{} || !wire::is_unicast(wire::Lid{to.lid}) || !pkey) return GsiSent::bad_address;
    wire::NetworkHeaders network;
    network.local = {.destination = {to.lid}, .source = own, .service_level = to.service_level};
    return post(device, network, to, *pkey, mad);
  }

  GsiSent send(ServedDevice& device, const GsiAddress& to, MadBytes mad) {
    if (device.adapter) return send_by_lid(device, to, mad);
    if (!pkey_at(fabric, device, to.pkey_index) || !gid_index(device, to.own) ||
        wire::is_multicast(to.peer) || wire::is_ipv4_mapped(to.own) != wire::is_ipv4_mapped(to.peer)) {
      return GsiSent::bad_address;
    }
    const auto network = path(device, to);
    return network ? post(device, *network, to, {}, mad) : GsiSent::no_route;
  }

  GsiSent post(ServedDevice& device, const wire::NetworkHeaders& network, const GsiAddress& to,
               wire::Pkey pkey, MadBytes mad) {
    if (!device.management->post(network, to.peer_qpn, pkey, mad)) {
      ++device.gsi.not_sent;
      return GsiSent::busy;
    }
    fabric.engine(device).send_management();
    note_traffic();
    return GsiSent::sent;
  }

  void begin_look() {
    for (const auto& unit : fabric.units())
      if (unit->management.begin_look()) looked_at.push_back(&unit->management);
  }

  void take_looked_at() {
    for (engine::ManagementTraffic* const traffic : looked_at) {
      if (traffic->next_arrival() == nullptr) continue;
      note_traffic();
      take_arrivals(*traffic);
    }
  }

  void end_look() {
    for (engine::ManagementTraffic* const traffic : looked_at) {
      traffic->end_look();
      if (traffic->next_arrival() != nullptr) traffic->leave_the_rest();
    }
    looked_at.clear();
  }

  void note_traffic() const {
    if (moved) moved();
  }

  Fabric& fabric;
  std::vector<PerformanceAgent> performance;                          // by device index
  std::map<std::pair<std::uint8_t, std::uint8_t>, Handler> handlers;  // by class and version
  Handler other;
  std::function<void()> moved;
  std::vector<ScopedWatch> watches;
  std::vector<engine::ManagementTraffic*> looked_at;  // by a Look
};

Gsi::Gsi(EventLoop& loop, Fabric& fabric) : impl_(std::make_unique<Impl>(loop, fabric)) {}

Gsi::~Gsi() = default;

Gsi::Look::Look(Gsi& gsi) : impl_(*gsi.impl_) { impl_.begin_look(); }

Gsi::Look::~Look() { impl_.end_look(); }

void Gsi::Look::take() { impl_.take_looked_at(); }

GsiSent Gsi::send(ServedDevice& device, const GsiAddress& to, MadBytes mad) {
  return impl_->send(device, to, mad);
}

bool Gsi::has_room(const ServedDevice& device) const { return device.management->has_room(); }

PerformanceAgent& Gsi::performance(const ServedDevice& device) { return impl_->performance[device.index]; }

bool Gsi::offer(ServedDevice& device, const GsiAddress& from, MadBytes mad) {
  wire::mad::MadHeader header;
  return belongs_on_qp1(mad, header) && impl_->offer(device, from, header, mad);
}

void Gsi::on_class(std::uint8_t management_class, std::uint8_t class_version, Handler handler) {
  if (handler) {
    impl_->handlers[{management_class, class_version}] = std::move(handler);
  } else {
    impl_->handlers.erase({management_class, class_version});
  }
}

void Gsi::on_other(Handler handler) { impl_->other = std::move(handler); }

void Gsi::on_traffic(std::function<void()> moved) { impl_->moved = std::move(moved); }

}  // namespace urnic::control
