#include "device_model/control/umad/umad_address.hpp"

#include <arpa/inet.h>

#include <cerrno>

#include "device_model/control/fabric/local_identifiers.hpp"
#include "wire/identifiers.hpp"

namespace urnic::control {
namespace {

// Linux refuses this on RoCE ports, so that infiniband-diags, which know LIDs only, cannot reach anyone.
int find_address_by_lid(const Fabric& fabric, const ServedDevice& device, std::uint16_t lid, GsiAddress& to) {
  const ServedDevice* const peer = find_by_local_identifier(fabric, lid);
  if (peer == nullptr) return EINVAL;
  for (const wire::Gid& own : device.settings.gids) {
    for (const wire::Gid& theirs : peer->settings.gids) {
      if (own == wire::Gid{} || theirs == wire::Gid{} ||
          wire::is_ipv4_mapped(own) != wire::is_ipv4_mapped(theirs) ||
          vlan_of(device, own) != vlan_of(*peer, theirs))
        continue;
      to.own = own;
      to.peer = theirs;
      return 0;
    }
  }
  return EINVAL;
}

}  // namespace

int find_address(const Fabric& fabric, const ServedDevice& device, const ib_user_mad_hdr& header,
                 GsiAddress& to) {
  to.peer_qpn = wire::Qpn{ntohl(header.qpn) & 0xFFFFFF};
  if (device.adapter) {
    to.lid = ntohs(header.lid);
    to.service_level = header.sl;
    return 0;
  }
  if (to.peer_qpn.value == 0) return EINVAL;  // there is none
  if (header.grh_present == 0) return find_address_by_lid(fabric, device, ntohs(header.lid), to);
  if (const int error = find_gid(device, header.gid_index, to.own)) return error;
  to.peer = wire::to_gid(header.gid);
  to.traffic_class = header.traffic_class;
  to.service_level = header.sl;
  to.flow_label = ntohl(header.flow_label);
  return 0;
}

std::uint16_t umad_lid_of(const Fabric& fabric, const wire::Gid& gid) {
  for (const auto& device : fabric.devices()) {
    if (gid_index(*device, gid)) return local_identifier(*device);
  }
  return 0;
}

}  // namespace urnic::control
