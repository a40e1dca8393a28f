#include "device_model/control/network/routes_between_devices.hpp"

#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <iterator>
#include <span>

#include "device_model/control/log/log.hpp"
#include "wire/network_headers.hpp"

namespace urnic::control {
namespace {

// The kernel asks the rules in this order, and the first route that a rule's table has is taken (ip-rule(8)).
enum Priority : std::uint32_t {
  kArrived = 10,      // what has come by an interface is for a local address
  kFromAddress = 30,  // from an interface's address: by that interface; to itself by the loopback interface
  kUnbound = 40,      // no source address is chosen yet: another device's interface, and its address
  kLocal = 100,       // instead of the kernel's own rule, which is first
};

// Tables of routes; those of interfaces follow, in their order.
constexpr std::uint32_t kUnboundTable = 10'000;
constexpr std::uint32_t kFirstTable = kUnboundTable + 1;
std::uint32_t table_of(std::size_t interface) { return kFirstTable + static_cast<std::uint32_t>(interface); }

constexpr std::uint32_t kLoopback = 1;  // the index of lo in each namespace

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
  std::string arrived_by = {};  // an interface; "lo" for what this host sends
};

void change_rule(const RouteSocket& kernel, std::uint16_t type, std::uint8_t family, const Rule& rule) {
  fib_rule_hdr header{};
  header.family = family;
  header.action = FR_ACT_TO_TBL;
  if (rule.from != nullptr) header.src_len = bits_of(*rule.from);
  RouteRequest request(type, type == RTM_NEWRULE ? NLM_F_CREATE | NLM_F_EXCL : 0, header);
  request.add(FRA_PRIORITY, rule.priority).add(FRA_TABLE, rule.table);
  if (rule.from != nullptr) request.add(FRA_SRC, *rule.from);
  if (!rule.arrived_by.empty())
    request.add(FRA_IIFNAME, std::as_bytes(std::span(rule.arrived_by.c_str(), rule.arrived_by.size() + 1)));
  kernel.carry_out(request, "a rule for packets between devices");
}

void add_rule(const RouteSocket& kernel, std::uint8_t family, const Rule& rule) {
  change_rule(kernel, RTM_NEWRULE, family, rule);
}

// From the address, which must outlive the rule, by the table.
Rule rule_from(const std::pair<wire::Gid, std::uint32_t>& rule) {
  return {.priority = kFromAddress, .table = rule.second, .from = &rule.first};
}

// A destination, and the table of its route.
using Place = std::pair<wire::Gid, std::uint32_t>;

rtmsg route_header(const wire::Gid& to, std::uint32_t interface) {
  rtmsg header{};
  header.rtm_family = family_of(to);
  header.rtm_dst_len = bits_of(to);
  header.rtm_protocol = RTPROT_STATIC;
  header.rtm_type = interface == kLoopback ? RTN_LOCAL : RTN_UNICAST;
  if (header.rtm_family == AF_INET) header.rtm_scope = interface == kLoopback ? RT_SCOPE_HOST : RT_SCOPE_LINK;
  return header;
}

// On the link of the interface, with the source address `from`; by the loopback interface without one.
void add_route(const RouteSocket& kernel, const Place& place, std::uint32_t interface,
               const wire::Gid& from) {
  RouteRequest request(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, route_header(place.first, interface));
  request.add(RTA_TABLE, place.second).add(RTA_DST, place.first).add(RTA_OIF, interface);
  if (interface != kLoopback) request.add(RTA_PREFSRC, from);
  kernel.carry_out(request, "a route between devices");
}

void remove_route(const RouteSocket& kernel, const Place& place, std::uint32_t interface) {
  RouteRequest request(RTM_DELROUTE, 0, route_header(place.first, interface));
  request.add(RTA_TABLE, place.second).add(RTA_DST, place.first).add(RTA_OIF, interface);
  kernel.carry_out(request, "a route between devices");
}

template <typename Request>
std::error_code refusal_of(const Request& request) {
  try {
    request();
    return {};
  } catch (const std::system_error& error) {
    return error.code();
  }
}

// Those that are the host's wherever it is asked: link-local ones are an interface's (RFC 4291, 2.5.6), and
// packets to them leave by the interface that the sender names.
std::vector<wire::Gid> routed(const InterfaceState& interface, bool has_ipv6) {
  std::vector<wire::Gid> addresses;
  std::copy_if(interface.addresses.begin(), interface.addresses.end(), std::back_inserter(addresses),
               [has_ipv6](const wire::Gid& each) {
                 return wire::is_ipv4_mapped(each) || (has_ipv6 && !wire::is_link_local(each));
               });
  return addresses;
}

const wire::Gid* first_of(const std::vector<wire::Gid>& addresses, std::uint8_t family) {
  const auto found = std::find_if(addresses.begin(), addresses.end(),
                                  [family](const wire::Gid& each) { return family_of(each) == family; });
  return found != addresses.end() ? &*found : nullptr;
}

}  // namespace

RoutesBetweenDevices::RoutesBetweenDevices(RouteSocket kernel, const std::vector<std::string>& names,
                                           const std::vector<InterfaceState>& interfaces)
    : kernel_(std::move(kernel)), has_ipv6_(has_family(AF_INET6)) {
  if (const std::error_code refused = change_to(wanted_by(interfaces)); refused)
    throw std::system_error(refused, "the way of packets between devices");
  for (const std::uint8_t family : families()) {
    for (const std::string& name : names)
      add_rule(kernel_, family, {.priority = kArrived, .table = RT_TABLE_LOCAL, .arrived_by = name});
    add_rule(kernel_, family, {.priority = kUnbound, .table = kUnboundTable, .arrived_by = "lo"});
    add_rule(kernel_, family, {.priority = kLocal, .table = RT_TABLE_LOCAL});
    change_rule(kernel_, RTM_DELRULE, family, {.priority = 0, .table = RT_TABLE_LOCAL});
  }
}

void RoutesBetweenDevices::follow(const std::vector<InterfaceState>& interfaces) {
  if (!may_change_) return;
  const std::error_code refused = change_to(wanted_by(interfaces));
  if (!refused) return;
  may_change_ = refused != std::errc::operation_not_permitted;
  if (may_change_) return log::info("the way of packets between devices, for now: {}", refused.message());
  log::warn(
      "packets to addresses that interfaces get from now on do not cross the links: this process may not "
      "change the rules of the programs' network");
}

// An interface that is down has no routes: the kernel removes them, and takes none.
RoutesBetweenDevices::Ways RoutesBetweenDevices::wanted_by(
    const std::vector<InterfaceState>& interfaces) const {
  std::vector<std::vector<wire::Gid>> addresses;
  addresses.reserve(interfaces.size());
  for (const InterfaceState& each : interfaces) addresses.push_back(routed(each, has_ipv6_));
  Ways wanted;
  for (std::size_t to = 0; to < interfaces.size(); ++to) {
    for (const wire::Gid& address : addresses[to]) {
      wanted.rules.emplace(address, table_of(to));
      wanted.routes[{address, table_of(to)}] = {kLoopback};
      for (std::size_t from = 0; from < interfaces.size(); ++from) {
        const wire::Gid* const source = first_of(addresses[from], family_of(address));
        if (from == to || source == nullptr || !interfaces[from].running) continue;
        const Route route{interfaces[from].index, *source};
        wanted.routes.try_emplace({address, table_of(from)}, route);
        wanted.routes.try_emplace({address, kUnboundTable}, route);
      }
    }
  }
  return wanted;
}

std::error_code RoutesBetweenDevices::change_to(const Ways& wanted) {
  std::error_code refused;
  const auto is_done = [&](const auto& request) {
    const std::error_code error = refusal_of(request);
    if (error && !refused) refused = error;
    return !error;
  };
  remove_all_but(wanted);
  for (const auto& way : wanted.routes) {
    const auto made = made_.routes.find(way.first);
    if (made != made_.routes.end() && made->second == way.second) continue;
    if (is_done([&] { add_route(kernel_, way.first, way.second.interface, way.second.source); }))
      made_.routes[way.first] = way.second;
  }
  for (const auto& rule : wanted.rules) {
    if (made_.rules.contains(rule)) continue;
    if (is_done([&] { change_rule(kernel_, RTM_NEWRULE, family_of(rule.first), rule_from(rule)); }))
      made_.rules.insert(rule);
  }
  return refused;
}

// Whatever the kernel says: it removes some by itself, and a program may have removed others.
void RoutesBetweenDevices::remove_all_but(const Ways& wanted) {
  std::erase_if(made_.rules, [&](const auto& rule) {
    if (wanted.rules.contains(rule)) return false;
    refusal_of([&] { change_rule(kernel_, RTM_DELRULE, family_of(rule.first), rule_from(rule)); });
    return true;
  });
  std::erase_if(made_.routes, [&](const auto& made) {
    if (wanted.routes.contains(made.first)) return false;
    refusal_of([&] { remove_route(kernel_, made.first, made.second.interface); });
    return true;
  });
}

}  // namespace urnic::control
