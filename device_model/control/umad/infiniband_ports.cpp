#include "device_model/control/umad/infiniband_ports.hpp"

#include <algorithm>
#include <cerrno>

#include "wire/mad/smp.hpp"

namespace urnic::control {
namespace {

using wire::mad::ManagementClass;
using wire::mad::Method;

constexpr std::uint32_t kGeneralServices = 1;

bool belongs_to_qp0(ManagementClass management_class) {
  return management_class == ManagementClass::subnet_lid_routed ||
         management_class == ManagementClass::subnet_directed_route;
}

// As Linux answers a Get or Set that nobody takes (ib_mad's generate_unmatched_resp).
wire::mad::Mad unsupported(const subnet::Datagram& datagram, wire::mad::MadHeader header) {
  wire::mad::Mad mad = datagram.mad;
  wire::mad::Smp smp;
  header.method = Method::get_response;
  header.status = wire::mad::MadStatus::unsupported_method_and_attribute;
  if (decode(mad, smp) == wire::mad::MadError::none && smp.is_directed()) {
    smp.header.method = header.method;
    smp.header.status = header.status;
    smp.is_returning = true;
    return encode(smp);
  }
  encode(header, mad);
  return mad;
}

}  // namespace

InfinibandPorts::InfinibandPorts(Fabric& fabric, Gsi& gsi, Taker taker)
    : fabric_(fabric), gsi_(gsi), taker_(std::move(taker)), performance_(fabric) {
  fabric_.subnet().on_arrival(
      [this](subnet::NodeIndex adapter, const subnet::Datagram& datagram) { arrive(adapter, datagram); });
}

InfinibandPorts::~InfinibandPorts() { fabric_.subnet().on_arrival({}); }

// QP0 is for subnet management, and for nothing else (IBTA 13.5.1).
int InfinibandPorts::send(const ServedDevice& device, const GsiAddress& to, MadBytes mad) {
  wire::mad::MadHeader header;
  wire::mad::decode(mad, header);
  const std::uint32_t qpn = belongs_to_qp0(header.management_class) ? 0 : kGeneralServices;
  if (qpn == kGeneralServices && to.peer_qpn.value != kGeneralServices) return EINVAL;
  subnet::Datagram datagram{
      .destination = {to.lid}, .source_qpn = qpn, .destination_qpn = qpn, .service_level = to.service_level};
  std::copy(mad.begin(), mad.end(), datagram.mad.begin());
  const bool has_left = fabric_.subnet().send(*device.adapter, datagram);
  fabric_.subnet_changed();
  return has_left ? 0 : EINVAL;
}

void InfinibandPorts::arrive(subnet::NodeIndex adapter, const subnet::Datagram& datagram) {
  const auto& devices = fabric_.devices();
  const auto found = std::find_if(devices.begin(), devices.end(),
                                  [&](const auto& device) { return device->adapter == adapter; });
  wire::mad::MadHeader header;
  if (found == devices.end() || decode(datagram.mad, header) != wire::mad::MadError::none) return;
  ServedDevice& device = **found;
  GsiAddress from;
  from.peer_qpn = wire::Qpn{datagram.source_qpn};
  from.lid = datagram.source.value;
  from.service_level = datagram.service_level;
  if (datagram.destination_qpn == kGeneralServices) {
    if (gsi_.offer(device, from, datagram.mad)) return;
    if (const auto counters = performance_.answer(device, header, datagram.mad))
      return answer(device, datagram, *counters);
  }
  if (taker_(device, from, datagram.mad)) return;
  const bool wants_answer = header.method == Method::get || header.method == Method::set;
  ++(wants_answer ? device.gsi.unsupported : device.gsi.unclaimed);
  if (wants_answer) answer(device, datagram, unsupported(datagram, header));
}

void InfinibandPorts::answer(ServedDevice& device, const subnet::Datagram& question,
                             const wire::mad::Mad& mad) {
  GsiAddress to;
  to.peer_qpn = wire::Qpn{question.source_qpn};
  to.lid = question.source.value;
  to.service_level = question.service_level;
  send(device, to, mad);
}

void InfinibandPorts::manager_came(const ServedDevice& device) {
  if (++managers_[device.index] == 1) set_manager(device, true);
}

void InfinibandPorts::manager_went(const ServedDevice& device) {
  if (--managers_[device.index] == 0) set_manager(device, false);
}

void InfinibandPorts::set_manager(const ServedDevice& device, bool is_manager) {
  fabric_.subnet().set_manager(*device.adapter, is_manager);
  fabric_.subnet_changed();
}

}  // namespace urnic::control
