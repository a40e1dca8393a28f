// Management datagrams by the names that the specification gives them.
#pragma once

#include <string>

#include "wire/mad/mad_header.hpp"

namespace urnic::analysis {

// What makes a datagram what it is.
struct MadKind {
  wire::mad::ManagementClass management_class{};
  wire::mad::Method method{};
  wire::mad::AttributeId attribute{};
};

// "SubnGet(NodeInfo)", "SubnAdmGetTableResp(PathRecord)", "PerformanceSet(PortCounters)"; a message of the
// connection manager: "REQ". What has no name is told by its number: "VendorGet(0x0)", "class 0x21
// Get(0x15)".
std::string mad_name(const MadKind& kind);

}  // namespace urnic::analysis
