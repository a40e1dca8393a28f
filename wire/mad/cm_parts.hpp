// What several CM messages have in common.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/identifiers.hpp"
#include "wire/mad/identifiers.hpp"
#include "wire/mad/timeout_code.hpp"

namespace urnic::wire::mad {

// Bytes that the CM carries for its user. A message always has all of them; what the user did not fill is
// zero.
template <std::size_t kBytes>
using PrivateData = std::array<std::byte, kBytes>;

// Enhanced connection establishment: what a vendor's two devices agree on beyond the specification. The
// vendor id is split over reserved fields of the message, the options are the MAD header's attribute
// modifier. Zeros: none.
struct Ece {
  std::uint32_t vendor_id = 0;  // 24 bits: an OUI
  std::uint32_t options = 0;
  friend bool operator==(const Ece&, const Ece&) = default;
};

// Additional information of a REJ, APR or SIDR_REP; the message's reason or status says what it means. A REJ
// with RejectReason::timeout has the sender's CA GUID here, eight bytes.
struct AdditionalInformation {
  std::uint8_t length = 0;  // bytes in use; as received it may be larger than there are bytes: see `used`
  std::array<std::byte, 72> bytes{};
  // The bytes in use, inside `bytes`: never more than there are.
  std::span<const std::byte> used() const {
    return std::span(bytes).first(std::min<std::size_t>(length, bytes.size()));
  }
  friend bool operator==(const AdditionalInformation&, const AdditionalInformation&) = default;
};

// One path of a connection (IBTA 12.7). Local: of the message's sender.
struct PathParameters {
  Lid local_lid;
  Lid remote_lid;
  Gid local_gid;
  Gid remote_gid;
  std::uint32_t flow_label = 0;  // 20 bits
  std::uint8_t packet_rate = 0;  // 6 bits, as the verbs' static rate
  std::uint8_t traffic_class = 0;
  std::uint8_t hop_limit = 0;
  std::uint8_t service_level = 0;  // 4 bits
  bool subnet_local = false;
  TimeoutCode local_ack_timeout;
  friend bool operator==(const PathParameters&, const PathParameters&) = default;
};

}  // namespace urnic::wire::mad
