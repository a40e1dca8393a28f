#include "device_model/control/network/device_interfaces.hpp"

#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/ip.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

#include <cerrno>
#include <system_error>

#include "device_model/link/frames/tap_carrier.hpp"
#include "wire/network_headers.hpp"

namespace urnic::control {
namespace {

constexpr std::uint8_t kIpv4Prefix = 24;
constexpr std::uint8_t kIpv6Prefix = 64;

// Settings of IPv4 on the interface (Linux, Documentation/networking/ip-sysctl.rst). It takes packets from an
// address of this host, as those of another device are; and it answers ARP for its own addresses only, with
// them only, as a host of its own would.
void add_ipv4_settings(RouteRequest& request) {
  const auto family = request.begin(AF_INET);
  const auto settings = request.begin(IFLA_INET_CONF);
  request.add(IPV4_DEVCONF_ACCEPT_LOCAL, 1u);
  request.add(IPV4_DEVCONF_RP_FILTER, 0u);
  request.add(IPV4_DEVCONF_ARP_IGNORE, 1u);
  request.add(IPV4_DEVCONF_ARPFILTER, 0u);
  request.add(IPV4_DEVCONF_ARP_ANNOUNCE, 2u);
  request.end(settings);
  request.end(family);
}

// The link-local address is one of the device's GIDs, and no other one is made.
void add_ipv6_settings(RouteRequest& request) {
  const auto family = request.begin(AF_INET6);
  const std::uint8_t none = IN6_ADDR_GEN_MODE_NONE;
  request.add(IFLA_INET6_ADDR_GEN_MODE, std::as_bytes(std::span(&none, 1)));
  request.end(family);
}

void set_up(const RouteSocket& kernel, const InterfacePlan& plan, std::uint32_t index) {
  ifinfomsg header{};
  header.ifi_index = static_cast<int>(index);
  RouteRequest request(RTM_NEWLINK, 0, header);
  request.add(IFLA_ADDRESS, std::as_bytes(std::span(plan.mac.bytes)));
  request.add(IFLA_MTU, plan.mtu);
  const auto families = request.begin(IFLA_AF_SPEC);
  add_ipv4_settings(request);
  if (has_family(AF_INET6)) add_ipv6_settings(request);
  request.end(families);
  kernel.carry_out(request, plan.name + ": its MAC address, MTU and settings");
}

void bring_up(const RouteSocket& kernel, const InterfacePlan& plan, std::uint32_t index) {
  ifinfomsg header{};
  header.ifi_index = static_cast<int>(index);
  header.ifi_flags = header.ifi_change = IFF_UP;
  kernel.carry_out(RouteRequest(RTM_NEWLINK, 0, header), plan.name + ": up");
}

// Without duplicate address detection: the device answers for its address already.
void add_address(const RouteSocket& kernel, const InterfacePlan& plan, std::uint32_t index,
                 const wire::Gid& address) {
  const bool ipv4 = wire::is_ipv4_mapped(address);
  ifaddrmsg header{};
  header.ifa_family = ipv4 ? AF_INET : AF_INET6;
  header.ifa_prefixlen = ipv4 ? kIpv4Prefix : kIpv6Prefix;
  header.ifa_flags = ipv4 ? 0 : IFA_F_NODAD;
  header.ifa_scope = wire::is_link_local(address) ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE;
  header.ifa_index = index;
  RouteRequest request(RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE, header);
  request.add(IFA_LOCAL, address).add(IFA_ADDRESS, address);
  kernel.carry_out(request, plan.name + ": its address");
}

}  // namespace

OpenInterface open_interface(const RouteSocket& kernel, const InterfacePlan& plan) {
  OpenInterface made{link::open_tap(plan.name, link::TapOffloads::offered),
                     if_nametoindex(plan.name.c_str())};
  if (made.index == 0) throw std::system_error(errno, std::generic_category(), plan.name + ": its index");
  set_up(kernel, plan, made.index);
  bring_up(kernel, plan, made.index);
  for (const wire::Gid& address : plan.addresses) add_address(kernel, plan, made.index, address);
  return made;
}

}  // namespace urnic::control
