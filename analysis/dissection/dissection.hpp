// A frame taken apart: which headers it has, where they lie, and whether it is right.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "analysis/dissection/field.hpp"
#include "wire/headers.hpp"
#include "wire/network_headers.hpp"
#include "wire/parse_error.hpp"

namespace urnic::analysis {

// A header of a frame. Offset and size in bytes.
struct PlacedHeader {
  const Header* header = nullptr;
  std::size_t offset = 0;
  std::size_t bytes = 0;
};

// A field of a frame. Bits count from the frame's first one.
struct PlacedField {
  const Field* field = nullptr;
  std::size_t first_bit = 0;
  std::size_t width = 0;
};

PlacedField place(const PlacedHeader& header, const Field& field);

enum class CrcCheck : std::uint8_t { not_checked, right, wrong };

// Refers to the frame's bytes.
class Dissection {
 public:
  // Ethernet, two VLAN tags, IP, UDP, BTH, at most two extended headers and the header of a datagram, payload
  // or MAD and CM message, pad, ICRC. A packet of InfiniBand has fewer.
  static constexpr std::size_t kMostHeaders = 16;

  std::span<const PlacedHeader> headers() const { return std::span(headers_).first(count_); }
  std::span<const std::byte> frame() const { return frame_; }

  wire::LinkLayer link_layer() const { return link_layer_; }
  // Has a BTH, behind IP and UDP on RoCE's port or behind the headers of InfiniBand; the members below are
  // set then, whatever else is wrong.
  bool has_bth() const { return has_bth_; }
  // Why a receiver refuses the frame; `truncated` also of a frame of which the capture has not all bytes. A
  // link of InfiniBand refuses a packet with a wrong VCRC before that.
  wire::ParseError verdict() const { return verdict_; }
  CrcCheck icrc() const { return icrc_; }
  // The right ICRC, as the field `icrc` reads it. Has a meaning if the check was made.
  std::uint32_t right_icrc() const { return right_icrc_; }
  // The same of the VCRC, which packets of InfiniBand have.
  CrcCheck vcrc() const { return vcrc_; }
  std::uint16_t right_vcrc() const { return right_vcrc_; }
  // The capture has not all bytes of the frame.
  bool is_cut() const { return is_cut_; }
  const wire::NetworkHeaders& network() const { return network_; }
  // The extended headers are those of the opcode that the frame has whole.
  const wire::TransportHeaders& transport() const { return transport_; }
  // Without pad, as far as it was captured; and how many bytes it has on the wire.
  std::span<const std::byte> payload() const { return payload_; }
  std::size_t payload_bytes() const { return payload_bytes_; }

  // The header, or the field, if the frame has it whole. With two VLAN tags, the outer one.
  const PlacedHeader* find(const Header& header) const;
  std::optional<PlacedField> find(const FieldOfHeader& field) const;
  std::optional<PlacedField> find(std::string_view field) const;

 private:
  friend class Dissector;

  std::span<const std::byte> frame_;
  wire::LinkLayer link_layer_ = wire::LinkLayer::ethernet;
  std::array<PlacedHeader, kMostHeaders> headers_{};
  std::size_t count_ = 0;
  bool has_bth_ = false;
  bool is_cut_ = false;
  wire::ParseError verdict_ = wire::ParseError::not_roce;
  CrcCheck icrc_ = CrcCheck::not_checked;
  std::uint32_t right_icrc_ = 0;
  CrcCheck vcrc_ = CrcCheck::not_checked;
  std::uint16_t right_vcrc_ = 0;
  wire::NetworkHeaders network_;
  wire::TransportHeaders transport_;
  std::span<const std::byte> payload_;
  std::size_t payload_bytes_ = 0;
};

// Takes an Ethernet frame apart, or a packet of InfiniBand from its LRH to its VCRC, of which `frame` has the
// first bytes; `original_bytes` as on the wire. Any bytes: nothing in them is trusted. Does not allocate.
Dissection dissect(std::span<const std::byte> frame, std::size_t original_bytes,
                   wire::LinkLayer link_layer = wire::LinkLayer::ethernet);
inline Dissection dissect(std::span<const std::byte> frame,
                          wire::LinkLayer link_layer = wire::LinkLayer::ethernet) {
  return dissect(frame, frame.size(), link_layer);
}

}  // namespace urnic::analysis
