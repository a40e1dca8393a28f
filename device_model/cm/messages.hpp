// The messages of a connection, with the fields that Linux fills in on RoCE.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "device_model/cm/connection.hpp"
#include "device_model/cm/host.hpp"
#include "device_model/cm/parameters.hpp"
#include "wire/mad/cm_connection.hpp"

namespace urnic::cm {

// The service timeout of MRAs: 69 s, 66 s by Linux's count.
inline constexpr TimeoutCode kServiceTimeout{24};

wire::mad::Req make_req(const Connection& connection, const ConnectParameters& parameters,
                        const DeviceDescription& device);
wire::mad::Rep make_rep(const Connection& connection, const ReplyParameters& parameters,
                        const DeviceDescription& device);
wire::mad::Rtu make_rtu(const Connection& connection);
wire::mad::Mra make_mra(const Connection& connection, wire::mad::AcknowledgedMessage acknowledged);
wire::mad::Dreq make_dreq(const Connection& connection);
wire::mad::Drep make_drep(const Connection& connection);
// What is rejected, and whether the REJ has a local id, follows from the connection's state.
wire::mad::Rej make_rej(const Connection& connection, wire::mad::RejectReason reason);
// Gives up: reason 4, with the CA GUID, by which a peer finds a connection whose other id it has not told.
wire::mad::Rej make_timeout_rej(const Connection& connection, wire::mad::Guid ca_guid);

// Retry counts have three bits: more is sent as 7.
constexpr std::uint8_t three_bits(std::uint8_t count) { return std::min<std::uint8_t>(count, 7); }

// Puts `bytes` at the beginning of `field`; false, and no change, if they are too many.
template <std::size_t kSize>
bool fill(std::array<std::byte, kSize>& field, PrivateData bytes) {
  if (bytes.size() > kSize) return false;
  std::ranges::copy(bytes, field.begin());
  return true;
}

}  // namespace urnic::cm
