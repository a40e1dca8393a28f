#include <array>

#include "analysis/dissection/header_tables.hpp"
#include "analysis/dissection/port_address.hpp"
#include "wire/infiniband/global_route_header.hpp"
#include "wire/infiniband/local_route_header.hpp"

namespace urnic::analysis {
namespace {

using wire::infiniband::NextHeader;

std::string next_meaning(std::uint64_t next) {
  switch (static_cast<NextHeader>(next)) {
    case NextHeader::raw:
      return "raw";
    case NextHeader::raw_ipv6:
      return "raw IPv6";
    case NextHeader::transport:
      return "BTH";
    case NextHeader::global:
      return "GRH";
  }
  return {};
}

std::string lid_meaning(std::uint64_t value) {
  const wire::Lid lid{static_cast<std::uint16_t>(value)};
  if (lid == wire::kPermissiveLid) return "permissive";
  return is_multicast(lid) ? lid_text(lid) : std::string{};
}

std::string lane_meaning(std::uint64_t lane) { return lane == 15 ? "management" : std::string{}; }

std::string behind_grh_meaning(std::uint64_t next) {
  return next == wire::infiniband::kNextIsTransport ? "BTH" : std::string{};
}

using enum FieldKind;

constexpr std::array kLocalRouteFields{
    Field{"lrh.vl", "Virtual lane", "infiniband.lrh.vl", 0, 4, decimal, false, lane_meaning},
    Field{"lrh.lver", "Link version", "infiniband.lrh.lver", 4, 4, decimal},
    Field{"lrh.sl", "Service level", "infiniband.lrh.sl", 8, 4, decimal},
    Field{"lrh.reserved2", "Reserved", "infiniband.lrh.reserved2", 12, 2, decimal},
    Field{"lrh.lnh", "What follows", "infiniband.lrh.lnh", 14, 2, decimal, false, next_meaning},
    Field{"lrh.dlid", "Destination LID", "infiniband.lrh.dlid", 16, 16, decimal, false, lid_meaning},
    Field{"lrh.reserved5", "Reserved", "infiniband.lrh.reserved5", 32, 5, decimal},
    Field{"lrh.pktlen", "Packet length, in words", "infiniband.lrh.pktlen", 37, 11, decimal},
    Field{"lrh.slid", "Source LID", "infiniband.lrh.slid", 48, 16, decimal, false, lid_meaning},
};

constexpr std::array kGlobalRouteFields{
    Field{"grh.ipver", "IP version", "infiniband.grh.ipver", 0, 4, decimal},
    Field{"grh.tclass", "Traffic class", "infiniband.grh.tclass", 4, 8, decimal},
    Field{"grh.flowlabel", "Flow label", "infiniband.grh.flowlabel", 12, 20, hexadecimal},
    Field{"grh.paylen", "Payload length", "infiniband.grh.paylen", 32, 16, decimal},
    Field{"grh.nxthdr", "Next header", "infiniband.grh.nxthdr", 48, 8, hexadecimal, false,
          behind_grh_meaning},
    Field{"grh.hoplmt", "Hop limit", "infiniband.grh.hoplmt", 56, 8, decimal},
    Field{"grh.sgid", "Source GID", "infiniband.grh.sgid", 64, 128, ipv6},
    Field{"grh.dgid", "Destination GID", "infiniband.grh.dgid", 192, 128, ipv6},
};

// As the ICRC, the number of the bytes as they lie.
constexpr std::array kVariantCrcFields{
    Field{"vcrc", "Variant CRC", "infiniband.variant.crc", 0, 16, hexadecimal},
};

}  // namespace

const Header kLocalRouteHeader{"lrh", "Local route header", 8, kLocalRouteFields};
const Header kGlobalRouteHeader{"grh", "Global route header", 40, kGlobalRouteFields};
const Header kVariantCrcHeader{"vcrc", "Variant CRC", 2, kVariantCrcFields};

}  // namespace urnic::analysis
