// The tables of fields.
#pragma once

#include "analysis/dissection/field.hpp"

namespace urnic::analysis {

// network_fields.cpp
extern const Header kEthernetHeader;
extern const Header kVlanHeader;
extern const Header kIpv4Header;
extern const Header kIpv6Header;
extern const Header kUdpHeader;

// infiniband_fields.cpp
extern const Header kLocalRouteHeader;
extern const Header kGlobalRouteHeader;
extern const Header kVariantCrcHeader;

// transport_fields.cpp
extern const Header kBthHeader;
extern const Header kDethHeader;
extern const Header kXrcethHeader;
extern const Header kRethHeader;
extern const Header kAtomicEthHeader;
extern const Header kAethHeader;
extern const Header kAtomicAckEthHeader;
extern const Header kImmediateHeader;
extern const Header kIethHeader;
extern const Header kCnpHeader;
extern const Header kSelectiveAckHeader;       // urnic's own (docs/selective-acks.md)
extern const Header kSelectiveAckOfferHeader;  // urnic's own, too
extern const Header kPayloadHeader;
extern const Header kPadHeader;
extern const Header kIcrcHeader;

// mad_fields.cpp
extern const Header kMadHeader;
// The CM's message of an attribute; nullptr if it has none.
const Header* cm_header(std::uint16_t attribute);
std::span<const Header* const> cm_headers();
// At the beginning of a REQ's or SIDR_REQ's private data.
extern const Header kIpCmHeader;

// gmp_fields.cpp
extern const Header kRmppHeader;
extern const Header kAdministrationHeader;
extern const Header kVendorHeader;

// smp_fields.cpp
extern const Header kLidRoutedSmpHeader;
extern const Header kDirectedSmpHeader;

}  // namespace urnic::analysis
