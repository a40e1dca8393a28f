// The CM's eleven messages as management datagrams, both ways (IBTA 12.6, 16.7).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "wire/mad/cm_alternate_path.hpp"
#include "wire/mad/cm_connection.hpp"
#include "wire/mad/cm_service_resolution.hpp"
#include "wire/mad/mad_error.hpp"
#include "wire/mad/mad_header.hpp"

namespace urnic::wire::mad {

// The class version that CM datagrams have. Their method is always Send, their status 0 (IBTA 16.7).
inline constexpr std::uint8_t kCmClassVersion = 2;

using CmMessage = std::variant<Req, Mra, Rej, Rep, Rtu, Dreq, Drep, SidrReq, SidrRep, Lap, Apr>;

// One of the types in CmMessage.
template <class Message>
concept CmMessageType = requires {
  { Message::kAttribute } -> std::same_as<const CmAttribute&>;
};

// The whole datagram. Fields narrower than their type are cut to their width; reserved bits are zero.
template <CmMessageType Message>
Mad encode(const Message& message, TransactionId transaction);

// Reads a datagram that must be a `Message`. Nothing in it is trusted: numbers, lengths and codes are as
// received. Reserved bits are ignored. `message` is written only if there is no error. The transaction id is
// in the MadHeader.
template <CmMessageType Message>
MadError decode(std::span<const std::byte> mad, Message& message);

// The same for whichever CM message the datagram is.
MadError decode(std::span<const std::byte> mad, CmMessage& message);

// The error that each of the above finds in the header of `mad`, but for the attribute.
MadError check_cm_header(const MadHeader& header);

}  // namespace urnic::wire::mad
