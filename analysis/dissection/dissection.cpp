#include "analysis/dissection/dissection.hpp"

#include <algorithm>

#include "analysis/dissection/header_tables.hpp"
#include "wire/byte_order.hpp"
#include "wire/ethernet.hpp"
#include "wire/frame.hpp"
#include "wire/icrc.hpp"
#include "wire/infiniband/global_route_header.hpp"
#include "wire/infiniband/invariant_crc.hpp"
#include "wire/infiniband/local_route_header.hpp"
#include "wire/infiniband/route_codec.hpp"
#include "wire/infiniband/variant_crc.hpp"
#include "wire/ipv4_mapped.hpp"
#include "wire/mad/cm_messages.hpp"
#include "wire/mad/ip_cm_header.hpp"
#include "wire/mad/mad_header.hpp"
#include "wire/mad/rmpp.hpp"
#include "wire/mad/service_id.hpp"
#include "wire/mad/vendor.hpp"
#include "wire/network_codec.hpp"
#include "wire/transport_codec.hpp"

namespace urnic::analysis {
namespace {

constexpr std::size_t kMostVlanTags = 2;
constexpr std::uint16_t kServiceVlan = 0x88A8;  // IEEE 802.1Q: the outer of two tags
constexpr wire::Qpn kSubnetManagementQp{0};     // of InfiniBand only
constexpr wire::Qpn kManagementQp{1};

bool is_vlan(std::uint16_t type) { return type == wire::ether_type::kVlan || type == kServiceVlan; }

// In the order in which they follow the BTH.
struct ExtendedHeader {
  std::uint16_t bit;
  const Header* header;
};
const std::array kExtendedHeaders{
    ExtendedHeader{wire::has_deth, &kDethHeader},
    ExtendedHeader{wire::has_xrceth, &kXrcethHeader},
    ExtendedHeader{wire::has_reth, &kRethHeader},
    ExtendedHeader{wire::has_atomic_eth, &kAtomicEthHeader},
    ExtendedHeader{wire::has_aeth, &kAethHeader},
    ExtendedHeader{wire::has_atomic_ack_eth, &kAtomicAckEthHeader},
    ExtendedHeader{wire::has_immediate, &kImmediateHeader},
    ExtendedHeader{wire::has_ieth, &kIethHeader},
    ExtendedHeader{wire::has_selective_ack, &kSelectiveAckHeader},
};

}  // namespace

// Puts the headers in, one after the other; `at_` is behind the last one.
class Dissector {
 public:
  Dissector(std::span<const std::byte> frame, std::size_t original_bytes, wire::LinkLayer link_layer)
      : original_bytes_(std::max(original_bytes, frame.size())) {
    result_.frame_ = frame;
    result_.link_layer_ = link_layer;
    result_.is_cut_ = original_bytes_ > frame.size();
  }

  Dissection run() {
    if (is_infiniband()) {
      if (place_routes()) place_transport();
      place_variant_crc();
    } else {
      place_link();
      if (place_network()) place_transport();
    }
    return result_;
  }

 private:
  bool is_infiniband() const { return result_.link_layer_ == wire::LinkLayer::infiniband; }
  std::size_t left() const { return result_.frame_.size() - std::min(at_, result_.frame_.size()); }

  // False if the frame has not all of it.
  bool place(const Header& header, std::size_t bytes) {
    if (bytes > left() || result_.count_ == Dissection::kMostHeaders) return false;
    result_.headers_[result_.count_++] = {&header, at_, bytes};
    at_ += bytes;
    return true;
  }
  bool place(const Header& header) { return place(header, header.bytes); }

  void place_link();
  bool place_network();
  bool place_routes();
  void place_variant_crc();
  void place_transport();
  bool place_extended();
  void place_rest();
  void place_datagram(std::size_t end);
  void place_mad(const wire::mad::MadHeader& mad, std::size_t end);
  void place_general(wire::mad::ManagementClass management_class);
  void place_ip_cm(const PlacedHeader& message);
  void check();
  std::uint32_t right_icrc(std::size_t end) const;

  Dissection result_;
  std::size_t original_bytes_;
  std::size_t at_ = 0;
  std::uint16_t type_ = 0;
  std::size_t end_ = 0;       // of the IP packet, or of the ICRC on InfiniBand, in the original frame
  std::size_t link_end_ = 0;  // where the IP header begins; 0 on InfiniBand
};

void Dissector::place_link() {
  if (!place(kEthernetHeader)) return;
  type_ = wire::load_be16(&result_.frame_[wire::kEtherTypeOffset]);
  for (std::size_t tags = 0; tags < kMostVlanTags && is_vlan(type_) && place(kVlanHeader); ++tags)
    type_ = wire::load_be16(&result_.frame_[at_ - 2]);
  link_end_ = at_;
}

// True if a RoCE packet's BTH follows, perhaps behind wrong values.
bool Dissector::place_network() {
  if (link_end_ == 0) {
    result_.verdict_ = wire::ParseError::truncated;
    return false;
  }
  // The two bytes before the IP header are the EtherType, with VLAN tags and without: so what lies between
  // the IP header and the 14 bytes before it reads as an Ethernet header.
  const std::size_t skipped = link_end_ - wire::kEthernetBytes;
  wire::NetworkExtent extent;
  result_.verdict_ = wire::parse_network(result_.frame_.subspan(skipped), original_bytes_ - skipped,
                                         result_.network_, extent);
  result_.network_.destination_mac = wire::load_mac(result_.frame_.data());
  result_.network_.source_mac = wire::load_mac(result_.frame_.data() + wire::kMacBytes);
  const bool tagged = wire::load_be16(&result_.frame_[wire::kEtherTypeOffset]) == wire::ether_type::kVlan;
  if (tagged && skipped != 0)
    result_.network_.vlan_tag = wire::load_be16(&result_.frame_[wire::kEthernetBytes]);
  const bool ipv4 = type_ == wire::ether_type::kIpv4;
  if (!ipv4 && type_ != wire::ether_type::kIpv6) {
    if (result_.verdict_ != wire::ParseError::truncated) result_.verdict_ = wire::ParseError::not_roce;
    return false;
  }
  if (!place(ipv4 ? kIpv4Header : kIpv6Header)) return false;
  const std::byte* const ip = &result_.frame_[link_end_];
  // parse_network stops there.
  if (result_.verdict_ == wire::ParseError::bad_ip_checksum) {
    wire::load_ipv4(ip + 12, result_.network_.source);
    wire::load_ipv4(ip + 16, result_.network_.destination);
  }
  const bool has_options = ipv4 && ip[0] != std::byte{0x45};
  const bool is_udp = (ipv4 ? ip[9] : ip[6]) == std::byte{17};
  if (has_options || !is_udp || result_.verdict_ == wire::ParseError::fragment) return false;
  const std::size_t length = ipv4 ? wire::load_be16(ip + 2) : wire::kIpv6Bytes + wire::load_be16(ip + 4);
  end_ = std::min(link_end_ + length, original_bytes_);
  return place(kUdpHeader) && wire::load_be16(&result_.frame_[at_ - 6]) == wire::kRocePort;
}

// LRH and GRH. True if a BTH follows, perhaps behind wrong values.
bool Dissector::place_routes() {
  namespace infiniband = wire::infiniband;
  if (!place(kLocalRouteHeader)) {
    result_.verdict_ = wire::ParseError::truncated;
    return false;
  }
  const infiniband::LocalRouteHeader local = infiniband::decode_local_route(result_.frame_.data());
  const std::size_t covered = local.words * std::size_t{4};
  end_ = std::min(covered, original_bytes_);
  // A capture may have been made where the VCRC had been taken off already.
  const std::size_t crc_bytes = original_bytes_ > covered ? infiniband::kVariantCrcBytes : 0;
  wire::NetworkExtent extent;
  result_.verdict_ =
      infiniband::parse_route(result_.frame_, original_bytes_ - crc_bytes, result_.network_, extent);
  if (local.next == infiniband::NextHeader::global && !place(kGlobalRouteHeader)) return false;
  // No BTH lies behind the headers of raw packets and of other link versions.
  return result_.verdict_ != wire::ParseError::raw_packet &&
         infiniband::transport_offset(result_.frame_) == std::optional(at_);
}

// Behind the ICRC, whatever lies before it.
void Dissector::place_variant_crc() {
  namespace infiniband = wire::infiniband;
  if (end_ < infiniband::kLocalRouteBytes || end_ + infiniband::kVariantCrcBytes > result_.frame_.size())
    return;
  at_ = end_;
  if (!place(kVariantCrcHeader)) return;
  const std::uint16_t received = wire::load_be16(&result_.frame_[end_]);
  result_.right_vcrc_ = __builtin_bswap16(infiniband::variant_crc(result_.frame_.first(end_)));
  result_.vcrc_ = received == result_.right_vcrc_ ? CrcCheck::right : CrcCheck::wrong;
}

void Dissector::place_transport() {
  if (!place(kBthHeader)) {
    result_.verdict_ = wire::ParseError::truncated;
    return;
  }
  result_.has_bth_ = true;
  wire::parse_bth(&result_.frame_[at_ - wire::kBthBytes], result_.transport_.bth);
  if (place_extended()) place_rest();
  check();
}

bool Dissector::place_extended() {
  const wire::Opcode opcode = result_.transport_.bth.opcode;
  const std::size_t bytes = wire::transport_header_size(opcode) - wire::kBthBytes;
  const bool is_whole = bytes <= left();
  if (is_whole) wire::parse_extended(result_.frame_.data() + at_, result_.transport_);
  for (const ExtendedHeader& extended : kExtendedHeaders) {
    if ((wire::traits(opcode).headers & extended.bit) == 0) continue;
    const bool offer = opcode == wire::kSelectiveAckOffer && extended.bit == wire::has_selective_ack;
    if (!place(offer ? kSelectiveAckOfferHeader : *extended.header)) return false;
  }
  return is_whole;
}

void Dissector::place_rest() {
  const std::size_t pad = result_.transport_.bth.pad;
  if (end_ < at_ + wire::kIcrcBytes) return;
  const std::size_t padded = end_ - wire::kIcrcBytes - at_;
  result_.payload_bytes_ = padded - std::min(pad, padded);
  const std::size_t there = std::min(result_.payload_bytes_, left());
  result_.payload_ = result_.frame_.subspan(at_, there);
  const std::size_t end = at_ + there;
  if (there != 0) place_datagram(end);
  if (there != result_.payload_bytes_) return;
  if (pad != 0 && pad <= padded && !place(kPadHeader, pad)) return;
  place(kIcrcHeader);
}

// The payload, which ends at `end`: a management datagram, or bytes.
void Dissector::place_datagram(std::size_t end) {
  const auto payload = result_.payload_;
  const wire::Bth& bth = result_.transport_.bth;
  const bool is_management =
      bth.destination == kManagementQp || (is_infiniband() && bth.destination == kSubnetManagementQp);
  wire::mad::MadHeader mad;
  if (bth.opcode == wire::kCongestionNotification && payload.size() == kCnpHeader.bytes) {
    place(kCnpHeader);
  } else if (bth.opcode.service() == wire::Service::ud && is_management &&
             wire::mad::decode(payload, mad) == wire::mad::MadError::none) {
    place_mad(mad, end);
  } else {
    place(kPayloadHeader, end - at_);
  }
  at_ = end;
}

void Dissector::place_mad(const wire::mad::MadHeader& mad, std::size_t end) {
  using wire::mad::ManagementClass;
  place(kMadHeader);
  const bool is_cm = wire::mad::check_cm_header(mad) == wire::mad::MadError::none;
  const Header* const cm = is_cm ? cm_header(mad.attribute.value) : nullptr;
  if (cm != nullptr) {
    place(*cm, end - at_);
    place_ip_cm(result_.headers().back());
  } else if (mad.management_class == ManagementClass::subnet_lid_routed) {
    place(kLidRoutedSmpHeader);
  } else if (mad.management_class == ManagementClass::subnet_directed_route) {
    place(kDirectedSmpHeader);
  } else {
    place_general(mad.management_class);
    place(kPayloadHeader, end - at_);
  }
}

void Dissector::place_general(wire::mad::ManagementClass management_class) {
  if (!wire::mad::has_rmpp(management_class)) return;
  place(kRmppHeader);
  if (management_class == wire::mad::ManagementClass::subnet_administration) place(kAdministrationHeader);
  if (wire::mad::has_oui(management_class)) place(kVendorHeader);
}

// The RDMA IP CM service's header in the message's private data.
void Dissector::place_ip_cm(const PlacedHeader& message) {
  const auto bytes = result_.frame_.subspan(message.offset, message.bytes);
  const Field& private_data = message.header->fields.back();
  const bool request = message.header == cm_header(static_cast<std::uint16_t>(wire::mad::CmAttribute::req));
  const bool resolution =
      message.header == cm_header(static_cast<std::uint16_t>(wire::mad::CmAttribute::sidr_req));
  if (!request && !resolution) return;
  // Both have the service id at the same place.
  const wire::mad::ServiceId service{wire::load_be64(&bytes[8])};
  wire::mad::IpCmHeader header;
  if (!wire::mad::service_port(service) ||
      wire::mad::decode(bytes.subspan(private_data.first_bit / 8), header) != wire::mad::IpCmError::none) {
    return;
  }
  at_ = message.offset + private_data.first_bit / 8;
  place(kIpCmHeader);
}

// The first error that wire::parse finds, unless the frame is cut: then what its first bytes tell.
void Dissector::check() {
  using enum wire::ParseError;
  const bool is_here = end_ <= result_.frame_.size();
  if (result_.verdict_ == none) {
    const auto packet = is_infiniband() ? result_.frame_.first(std::min(end_, result_.frame_.size()))
                                        : result_.frame_.subspan(link_end_ - wire::kEthernetBytes);
    const wire::Frame whole{
        .headers = packet, .payload = {}, .trailer = {}, .link_layer = result_.link_layer_};
    wire::ParsedFrame parsed;
    result_.verdict_ = is_here ? wire::parse(whole, parsed) : truncated;
  }
  const PlacedHeader* const icrc = result_.find(kIcrcHeader);
  if (icrc == nullptr) return;
  const std::uint32_t received = wire::load_be32(&result_.frame_[icrc->offset]);
  if (result_.verdict_ == none || result_.verdict_ == unknown_opcode) {
    result_.right_icrc_ = received;
  } else {
    result_.right_icrc_ = right_icrc(icrc->offset);
  }
  result_.icrc_ = received == result_.right_icrc_ ? CrcCheck::right : CrcCheck::wrong;
}

// Of the first `end` bytes, as the field is read.
std::uint32_t Dissector::right_icrc(std::size_t end) const {
  const std::size_t skipped = is_infiniband() ? 0 : link_end_ - wire::kEthernetBytes;
  const auto covered = result_.frame_.first(end).subspan(skipped);
  const std::size_t headers = std::min(covered.size(), wire::kMaxHeaderBytes);
  const auto crc = is_infiniband() ? wire::infiniband::invariant_crc : wire::icrc;
  return __builtin_bswap32(crc(covered.first(headers), covered.subspan(headers), {}));
}

PlacedField place(const PlacedHeader& header, const Field& field) {
  const std::size_t width = field.width == kToTheEnd ? header.bytes * 8 - field.first_bit : field.width;
  return {&field, header.offset * 8 + field.first_bit, width};
}

const PlacedHeader* Dissection::find(const Header& header) const {
  for (const PlacedHeader& placed : headers())
    if (placed.header == &header) return &placed;
  return nullptr;
}

std::optional<PlacedField> Dissection::find(const FieldOfHeader& field) const {
  const PlacedHeader* const header = find(*field.header);
  if (header == nullptr) return std::nullopt;
  return place(*header, *field.field);
}

std::optional<PlacedField> Dissection::find(std::string_view field) const {
  const auto found = find_field(field);
  return found ? find(*found) : std::nullopt;
}

Dissection dissect(std::span<const std::byte> frame, std::size_t original_bytes, wire::LinkLayer link_layer) {
  return Dissector(frame, original_bytes, link_layer).run();
}

}  // namespace urnic::analysis
