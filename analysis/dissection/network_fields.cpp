#include <array>

#include "analysis/dissection/header_tables.hpp"
#include "wire/ethernet.hpp"

namespace urnic::analysis {
namespace {

std::string ether_type_meaning(std::uint64_t type) {
  switch (type) {
    case wire::ether_type::kIpv4:
      return "IPv4";
    case wire::ether_type::kArp:
      return "ARP";
    case wire::ether_type::kVlan:
      return "VLAN tag";
    case wire::ether_type::kIpv6:
      return "IPv6";
    default:
      return {};
  }
}

std::string protocol_meaning(std::uint64_t protocol) {
  switch (protocol) {
    case 1:
      return "ICMP";
    case 2:
      return "IGMP";
    case 6:
      return "TCP";
    case 17:
      return "UDP";
    case 58:
      return "ICMPv6";
    default:
      return {};
  }
}

// RFC 3168 section 5.
std::string ecn_meaning(std::uint64_t ecn) {
  constexpr std::array<const char*, 4> kMeanings{"not ECT", "ECT(1)", "ECT(0)", "CE"};
  return ecn < kMeanings.size() ? kMeanings[ecn] : std::string{};
}

std::string port_meaning(std::uint64_t port) { return port == 4791 ? "RoCEv2" : std::string{}; }

using enum FieldKind;

constexpr std::array kEthernetFields{
    Field{"eth.dst", "Destination", "eth.dst", 0, 48, mac},
    Field{"eth.src", "Source", "eth.src", 48, 48, mac},
    Field{"eth.type", "Type", "eth.type", 96, 16, hexadecimal, false, ether_type_meaning},
};

constexpr std::array kVlanFields{
    Field{"vlan.priority", "Priority", "vlan.priority", 0, 3, decimal},
    Field{"vlan.dei", "Drop eligible", "vlan.dei", 3, 1, flag},
    Field{"vlan.id", "VLAN", "vlan.id", 4, 12, decimal},
    Field{"vlan.type", "Type", "vlan.etype", 16, 16, hexadecimal, false, ether_type_meaning},
};

constexpr std::array kIpv4Fields{
    Field{"ip.version", "Version", "ip.version", 0, 4, decimal},
    Field{"ip.hdr_len", "Header length, in words", "", 4, 4, decimal},
    Field{"ip.dscp", "Differentiated services codepoint", "ip.dsfield.dscp", 8, 6, decimal},
    Field{"ip.ecn", "Explicit congestion notification", "ip.dsfield.ecn", 14, 2, decimal, false, ecn_meaning},
    Field{"ip.len", "Total length", "ip.len", 16, 16, decimal},
    Field{"ip.id", "Identification", "ip.id", 32, 16, hexadecimal},
    Field{"ip.rb", "Reserved flag", "ip.flags.rb", 48, 1, flag},
    Field{"ip.df", "Don't fragment", "ip.flags.df", 49, 1, flag},
    Field{"ip.mf", "More fragments", "ip.flags.mf", 50, 1, flag},
    Field{"ip.frag_offset", "Fragment offset", "ip.frag_offset", 51, 13, decimal},
    Field{"ip.ttl", "Time to live", "ip.ttl", 64, 8, decimal},
    Field{"ip.proto", "Protocol", "ip.proto", 72, 8, decimal, false, protocol_meaning},
    Field{"ip.checksum", "Header checksum", "ip.checksum", 80, 16, hexadecimal},
    Field{"ip.src", "Source", "ip.src", 96, 32, ipv4},
    Field{"ip.dst", "Destination", "ip.dst", 128, 32, ipv4},
};

constexpr std::array kIpv6Fields{
    Field{"ipv6.version", "Version", "ipv6.version", 0, 4, decimal},
    Field{"ipv6.dscp", "Differentiated services codepoint", "ipv6.tclass.dscp", 4, 6, decimal},
    Field{"ipv6.ecn", "Explicit congestion notification", "ipv6.tclass.ecn", 10, 2, decimal, false,
          ecn_meaning},
    Field{"ipv6.flow", "Flow label", "ipv6.flow", 12, 20, hexadecimal},
    Field{"ipv6.plen", "Payload length", "ipv6.plen", 32, 16, decimal},
    Field{"ipv6.nxt", "Next header", "ipv6.nxt", 48, 8, decimal, false, protocol_meaning},
    Field{"ipv6.hlim", "Hop limit", "ipv6.hlim", 56, 8, decimal},
    Field{"ipv6.src", "Source", "ipv6.src", 64, 128, ipv6},
    Field{"ipv6.dst", "Destination", "ipv6.dst", 192, 128, ipv6},
};

constexpr std::array kUdpFields{
    Field{"udp.srcport", "Source port", "udp.srcport", 0, 16, decimal},
    Field{"udp.dstport", "Destination port", "udp.dstport", 16, 16, decimal, false, port_meaning},
    Field{"udp.length", "Length", "udp.length", 32, 16, decimal},
    Field{"udp.checksum", "Checksum", "udp.checksum", 48, 16, hexadecimal},
};

}  // namespace

const Header kEthernetHeader{"eth", "Ethernet", 14, kEthernetFields};
const Header kVlanHeader{"vlan", "VLAN tag", 4, kVlanFields};
const Header kIpv4Header{"ip", "IPv4", 20, kIpv4Fields};
const Header kIpv6Header{"ipv6", "IPv6", 40, kIpv6Fields};
const Header kUdpHeader{"udp", "UDP", 8, kUdpFields};

}  // namespace urnic::analysis
