#include "analysis/dissection/port_address.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <cstring>

#include "wire/ipv4_mapped.hpp"

namespace urnic::analysis {
namespace {

PortAddress address_of(const wire::NetworkHeaders& network, const wire::Gid& gid,
                       wire::Lid wire::LocalRoute::*lid) {
  if (network.local) return {wire::LinkLayer::infiniband, {}, *network.local.*lid};
  return {wire::LinkLayer::ethernet, gid, {}};
}

}  // namespace

PortAddress source_of(const wire::NetworkHeaders& network) {
  return address_of(network, network.source, &wire::LocalRoute::source);
}

PortAddress destination_of(const wire::NetworkHeaders& network) {
  return address_of(network, network.destination, &wire::LocalRoute::destination);
}

std::string address_text(const PortAddress& address) {
  return address.link_layer == wire::LinkLayer::infiniband ? lid_text(address.lid)
                                                           : address_text(address.gid);
}

std::string address_text(const wire::Gid& gid) {
  char text[INET6_ADDRSTRLEN];
  const bool ipv4 =
      std::memcmp(gid.bytes.data(), wire::kIpv4MappedPrefix.data(), wire::kIpv4MappedPrefix.size()) == 0;
  const std::uint8_t* const from = gid.bytes.data() + (ipv4 ? wire::kIpv4MappedPrefix.size() : 0);
  return inet_ntop(ipv4 ? AF_INET : AF_INET6, from, text, sizeof text) != nullptr ? text : "";
}

std::string lid_text(wire::Lid lid) {
  return is_multicast(lid) ? fmt::format("MLID {:#06x}", lid.value) : fmt::format("LID {}", lid.value);
}

}  // namespace urnic::analysis
