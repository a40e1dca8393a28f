#include "device_model/control/network/routes_between_devices.hpp"

#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "wire/network_headers.hpp"

namespace urnic::control {
namespace {

// The kernel asks the rules in this order, and the first route that a rule's table has is taken (ip-rule(8)).
enum Priority : std::uint32_t {
  kArrived = 10,      // what has come by an interface is for a local address
  kToItself = 20,     // from an interface's address to itself: by the loopback interface, as on any host
  kFromAddress = 30,  // from an interface's address: by that interface
  kUnbound = 40,      // no source address is chosen yet: another device's interface, and its address
  kLocal = 100,       // instead of the kernel's own rule, which is first
};

// Tables of routes; those of interfaces follow, in their order.
constexpr std::uint32_t kUnboundTable = 10'000;
constexpr std::uint32_t kFirstTable = kUnboundTable + 1;

std::vector<std::uint8_t> families() {
  std::vector<std::uint8_t> all{AF_INET};
  if (has_family(AF_INET6)) all.push_back(AF_INET6);
  return all;
}

std::uint8_t family_of(const wire::Gid& address) {
  return wire::is_ipv4_mapped(address) ? AF_INET : AF_INET6;
}

std::uint8_t bits_of(const wire::Gid& address) { return wire::is_ipv4_mapped(address) ? 32 : 128; }

struct Rule {
  std::uint32_t priority = 0;
  std::uint32_t table = 0;
  const wire::Gid* from = nullptr;
  const wire::Gid* to = nullptr;
  std::string arrived_by = {};  // an interface; "lo" for what this host sends
};

void change_rule(const RouteSocket& kernel, std::uint16_t type, std::uint8_t family, const Rule& rule) {
  fib_rule_hdr header{};
  header.family = family;
  header.action = FR_ACT_TO_TBL;
  if (rule.from != nullptr) header.src_len = bits_of(*rule.from);
  if (rule.to != nullptr) header.dst_len = bits_of(*rule.to);
  RouteRequest request(type, type == RTM_NEWRULE ? NLM_F_CREATE | NLM_F_EXCL : 0, header);
  request.add(FRA_PRIORITY, rule.priority).add(FRA_TABLE, rule.table);
  if (rule.from != nullptr) request.add(FRA_SRC, *rule.from);
  if (rule.to != nullptr) request.add(FRA_DST, *rule.to);
  if (!rule.arrived_by.empty())
    request.add(FRA_IIFNAME, std::as_bytes(std::span(rule.arrived_by.c_str(), rule.arrived_by.size() + 1)));
  kernel.carry_out(request, "a rule for packets between devices");
}

void add_rule(const RouteSocket& kernel, std::uint8_t family, const Rule& rule) {
  change_rule(kernel, RTM_NEWRULE, family, rule);
}

// To `to` alone, on the link of the interface, with the source address `from`.
void add_route(const RouteSocket& kernel, std::uint32_t table, const wire::Gid& to, std::uint32_t interface,
               const wire::Gid& from) {
  rtmsg header{};
  header.rtm_family = family_of(to);
  header.rtm_dst_len = bits_of(to);
  header.rtm_protocol = RTPROT_STATIC;
  header.rtm_scope = header.rtm_family == AF_INET ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE;
  header.rtm_type = RTN_UNICAST;
  RouteRequest request(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, header);
  request.add(RTA_TABLE, table).add(RTA_DST, to).add(RTA_OIF, interface).add(RTA_PREFSRC, from);
  kernel.carry_out(request, "a route between devices");
}

// Those that are the host's wherever it is asked: link-local ones are an interface's (RFC 4291, 2.5.6), and
// packets to them leave by the interface that the sender names.
std::vector<wire::Gid> routed(const RoutedInterface& interface) {
  std::vector<wire::Gid> addresses;
  std::copy_if(interface.addresses.begin(), interface.addresses.end(), std::back_inserter(addresses),
               [](const wire::Gid& each) { return !wire::is_link_local(each); });
  return addresses;
}

const wire::Gid* first_of(const std::vector<wire::Gid>& addresses, std::uint8_t family) {
  const auto found = std::find_if(addresses.begin(), addresses.end(),
                                  [family](const wire::Gid& each) { return family_of(each) == family; });
  return found != addresses.end() ? &*found : nullptr;
}

void add_routes(const RouteSocket& kernel, const std::vector<RoutedInterface>& interfaces, std::size_t from,
                std::size_t to) {
  const std::vector<wire::Gid> sources = routed(interfaces[from]);
  for (const wire::Gid& destination : routed(interfaces[to])) {
    const wire::Gid* const source = first_of(sources, family_of(destination));
    if (source == nullptr) continue;
    const auto table = kFirstTable + static_cast<std::uint32_t>(from);
    add_route(kernel, table, destination, interfaces[from].index, *source);
    const bool is_first_other = from == (to == 0 ? 1 : 0);
    if (is_first_other) add_route(kernel, kUnboundTable, destination, interfaces[from].index, *source);
  }
}

}  // namespace

void route_between_devices(const RouteSocket& kernel, const std::vector<RoutedInterface>& interfaces) {
  for (std::size_t i = 0; i < interfaces.size(); ++i) {
    for (const std::uint8_t family : families())
      add_rule(kernel, family,
               {.priority = kArrived, .table = RT_TABLE_LOCAL, .arrived_by = interfaces[i].name});
    for (const wire::Gid& address : routed(interfaces[i])) {
      const std::uint8_t family = family_of(address);
      for (const wire::Gid& own : routed(interfaces[i]))
        if (family_of(own) == family)
          add_rule(kernel, family,
                   {.priority = kToItself, .table = RT_TABLE_LOCAL, .from = &address, .to = &own});
      add_rule(
          kernel, family,
          {.priority = kFromAddress, .table = kFirstTable + static_cast<std::uint32_t>(i), .from = &address});
    }
    for (std::size_t j = 0; j < interfaces.size(); ++j)
      if (i != j) add_routes(kernel, interfaces, i, j);
  }
  for (const std::uint8_t family : families()) {
    add_rule(kernel, family, {.priority = kUnbound, .table = kUnboundTable, .arrived_by = "lo"});
    add_rule(kernel, family, {.priority = kLocal, .table = RT_TABLE_LOCAL});
    change_rule(kernel, RTM_DELRULE, family, {.priority = 0, .table = RT_TABLE_LOCAL});
  }
}

}  // namespace urnic::control
