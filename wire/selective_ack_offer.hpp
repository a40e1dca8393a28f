// The offer of selective acks: what a urnic says about them to a peer of which it knows nothing but its
// address (docs/selective-acks.md). It has the layout of a selective-ack header, with flags in place of the
// reserved byte and a signature in place of the PSNs: the opcode is one of those that every manufacturer may
// use.
#pragma once

#include <cstdint>
#include <optional>

#include "wire/headers.hpp"

namespace urnic::wire {

// "urnicSA" and a version.
inline constexpr std::uint64_t kOfferSignature = 0x75726E6963534101;

struct SelectiveAckOffer {
  bool reads = false;         // the sender's requester reads selective acks
  bool gives = false;         // the sender's responder gives them to a requester that reads them
  bool wants_answer = false;  // the sender wants to know the same of the receiver
  friend bool operator==(const SelectiveAckOffer&, const SelectiveAckOffer&) = default;
};

constexpr SelectiveAckEth header_of(const SelectiveAckOffer& offer) {
  const int flags = (offer.reads ? 1 : 0) | (offer.gives ? 2 : 0) | (offer.wants_answer ? 4 : 0);
  return {.reserved = static_cast<std::uint8_t>(flags), .latest = {}, .earlier = kOfferSignature};
}

// Empty if another manufacturer, or another version, has made it.
constexpr std::optional<SelectiveAckOffer> offer_in(const SelectiveAckEth& header) {
  if (header.earlier != kOfferSignature) return std::nullopt;
  return SelectiveAckOffer{.reads = (header.reserved & 1) != 0,
                           .gives = (header.reserved & 2) != 0,
                           .wants_answer = (header.reserved & 4) != 0};
}

}  // namespace urnic::wire
