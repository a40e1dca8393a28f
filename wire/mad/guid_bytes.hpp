// A GUID as it lies in datagrams, in GIDs, and in what the kernel shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/byte_order.hpp"
#include "wire/mad/identifiers.hpp"

namespace urnic::wire::mad {

inline constexpr std::size_t kGuidBytes = 8;

inline Guid to_guid(std::span<const std::byte, kGuidBytes> bytes) { return {load_be64(bytes.data())}; }

inline Guid to_guid(std::span<const std::uint8_t, kGuidBytes> bytes) { return to_guid(std::as_bytes(bytes)); }

}  // namespace urnic::wire::mad
