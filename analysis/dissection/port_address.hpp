// Where packets come from and go to: a port's or a group's IP address, or on InfiniBand its LID.
#pragma once

#include <compare>
#include <string>

#include "wire/identifiers.hpp"
#include "wire/local_identifier.hpp"
#include "wire/network_headers.hpp"

namespace urnic::analysis {

struct PortAddress {
  wire::LinkLayer link_layer = wire::LinkLayer::ethernet;
  wire::Gid gid;  // of RoCEv2
  wire::Lid lid;  // of InfiniBand, whether the packet has GIDs, too, or not
  friend auto operator<=>(const PortAddress&, const PortAddress&) = default;
};

PortAddress source_of(const wire::NetworkHeaders& network);
PortAddress destination_of(const wire::NetworkHeaders& network);

// "192.0.2.1", "fe80::1", "LID 3".
std::string address_text(const PortAddress& address);
std::string address_text(const wire::Gid& gid);
// As the tools of fabrics write them: "LID 3" of a port, "MLID 0xc000" of a group.
std::string lid_text(wire::Lid lid);

}  // namespace urnic::analysis
