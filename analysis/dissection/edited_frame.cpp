#include "analysis/dissection/edited_frame.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "analysis/dissection/header_tables.hpp"
#include "wire/byte_order.hpp"
#include "wire/frame.hpp"
#include "wire/icrc.hpp"
#include "wire/infiniband/invariant_crc.hpp"
#include "wire/infiniband/variant_crc.hpp"
#include "wire/internet_checksum.hpp"
#include "wire/network_codec.hpp"

namespace urnic::analysis {
namespace {

std::vector<std::byte> encoded(const wire::NetworkHeaders& network, const wire::TransportHeaders& transport,
                               std::span<const std::byte> payload) {
  wire::FrameStorage storage;
  const wire::Frame frame = wire::encode(network, transport, payload, storage);
  std::vector<std::byte> bytes;
  bytes.reserve(frame.size());
  for (const auto piece : {frame.headers, frame.payload, frame.trailer})
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  if (network.local) wire::infiniband::append_variant_crc(bytes);
  return bytes;
}

}  // namespace

EditedFrame::EditedFrame(const wire::NetworkHeaders& network, const wire::TransportHeaders& transport,
                         std::span<const std::byte> payload)
    : EditedFrame(encoded(network, transport, payload),
                  network.local ? wire::LinkLayer::infiniband : wire::LinkLayer::ethernet) {}

EditedFrame::EditedFrame(std::vector<std::byte> frame, wire::LinkLayer link_layer)
    : frame_(std::move(frame)), shape_(dissect(frame_, frame_.size(), link_layer)) {}

bool EditedFrame::has(std::string_view field) const { return shape_.find(field_or_fail(field)).has_value(); }

void EditedFrame::set(std::string_view field, std::string_view text) {
  set(field, parse_value(*field_or_fail(field).field, text));
}

void EditedFrame::set(std::string_view field, const FieldValue& value) {
  const FieldOfHeader found = field_or_fail(field);
  const auto placed = shape_.find(found);
  if (!placed) {
    throw FieldError("the frame has no header " + std::string(found.header->name) + ", so " +
                     found.field->name + " cannot be set");
  }
  write_value(*placed, frame_, value);
  set_.push_back(found.field);
}

void EditedFrame::set_number(std::string_view field, std::uint64_t number) {
  set(field, FieldValue{number, {}});
}

bool EditedFrame::was_set(const char* field) const {
  const auto found = find_field(field);
  return found && std::find(set_.begin(), set_.end(), found->field) != set_.end();
}

const std::vector<std::byte>& EditedFrame::finish() {
  if (shape_.link_layer() == wire::LinkLayer::infiniband) {
    finish_infiniband();
    return frame_;
  }
  finish_network();
  if (!was_set("icrc")) finish_icrc();
  return frame_;
}

void EditedFrame::finish_network() {
  const PlacedHeader* const ipv4 = shape_.find(kIpv4Header);
  const PlacedHeader* const ipv6 = shape_.find(kIpv6Header);
  const PlacedHeader* const udp = shape_.find(kUdpHeader);
  if (ipv4 != nullptr) {
    std::byte* const ip = &frame_[ipv4->offset];
    if (!was_set("ip.len"))
      wire::store_be16(ip + 2, static_cast<std::uint16_t>(frame_.size() - ipv4->offset));
    if (!was_set("ip.checksum")) {
      std::memset(ip + 10, 0, 2);
      wire::InternetSum sum;
      sum.add({ip, wire::kIpv4Bytes});
      const std::uint16_t checksum = sum.checksum();
      std::memcpy(ip + 10, &checksum, sizeof checksum);
    }
  }
  if (ipv6 != nullptr && !was_set("ipv6.plen")) {
    const std::size_t behind = frame_.size() - ipv6->offset - wire::kIpv6Bytes;
    wire::store_be16(&frame_[ipv6->offset + 4], static_cast<std::uint16_t>(behind));
  }
  if (udp != nullptr && !was_set("udp.length"))
    wire::store_be16(&frame_[udp->offset + 4], static_cast<std::uint16_t>(frame_.size() - udp->offset));
}

// A packet whose lengths do not fit together keeps them: nobody can say where its CRCs lie.
void EditedFrame::finish_infiniband() {
  using wire::infiniband::kVariantCrcBytes;
  const PlacedHeader* const vcrc = shape_.find(kVariantCrcHeader);
  if (vcrc == nullptr || vcrc->offset + kVariantCrcBytes != frame_.size()) return;
  const auto covered = std::span<const std::byte>(frame_).first(vcrc->offset);
  const PlacedHeader* const grh = shape_.find(kGlobalRouteHeader);
  if (!was_set("lrh.pktlen")) set_length("lrh.pktlen", covered.size() / 4);
  if (grh != nullptr && !was_set("grh.paylen"))
    set_length("grh.paylen", covered.size() - grh->offset - grh->bytes);
  const PlacedHeader* const icrc = shape_.find(kIcrcHeader);
  if (icrc != nullptr && !was_set("icrc")) {
    const auto before = covered.first(icrc->offset);
    const std::size_t headers = std::min(before.size(), wire::kMaxHeaderBytes);
    const std::uint32_t crc =
        wire::infiniband::invariant_crc(before.first(headers), before.subspan(headers), {});
    wire::store_be32(&frame_[icrc->offset], __builtin_bswap32(crc));
  }
  if (!was_set("vcrc")) wire::infiniband::store_variant_crc(covered, &frame_[vcrc->offset]);
}

void EditedFrame::set_length(const char* field, std::size_t length) {
  const auto placed = shape_.find(field);
  if (placed) write_value(*placed, frame_, {length, {}});
}

void EditedFrame::finish_icrc() {
  const PlacedHeader* const icrc = shape_.find(kIcrcHeader);
  const PlacedHeader* const udp = shape_.find(kUdpHeader);
  if (icrc == nullptr || udp == nullptr) return;
  const bool ipv4 = shape_.find(kIpv4Header) != nullptr;
  const std::size_t ip_bytes = ipv4 ? wire::kIpv4Bytes : wire::kIpv6Bytes;
  const std::size_t skipped = udp->offset - ip_bytes - wire::kEthernetBytes;
  const auto covered = std::span<const std::byte>(frame_).first(icrc->offset).subspan(skipped);
  const std::size_t headers = std::min(covered.size(), wire::kMaxHeaderBytes);
  const std::uint32_t crc = wire::icrc(covered.first(headers), covered.subspan(headers), {});
  wire::store_be32(&frame_[icrc->offset], __builtin_bswap32(crc));
  const std::size_t checksum = udp->offset + 6;
  if (was_set("udp.checksum") || wire::load_be16(&frame_[checksum]) == 0) return;
  std::memset(&frame_[checksum], 0, 2);
  const auto packet = std::span<const std::byte>(frame_).subspan(skipped);
  const std::uint16_t sum =
      wire::udp_checksum({.headers = packet, .payload = {}, .trailer = {}}, udp->offset - skipped);
  // 0 would say that there is none (RFC 768).
  const std::uint16_t sent = sum == 0 ? 0xFFFF : sum;
  std::memcpy(&frame_[checksum], &sent, sizeof sent);
}

}  // namespace urnic::analysis
