// The headers at the beginning of a message to a tag-matching SRQ (infiniband/tm_types.h; rdma-core,
// Documentation/tag_matching.md). To the transport they are the first bytes of any SEND.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "wire/identifiers.hpp"

namespace urnic::wire {

// The values are those of ibv_tmh_op.
enum class TagOpcode : std::uint8_t { no_tag = 0, rendezvous = 1, finish = 2, eager = 3 };

inline constexpr std::size_t kTagHeaderBytes = 16;
inline constexpr std::size_t kRendezvousHeaderBytes = 16;
// The longest rendezvous request, with all that its sender may add for the receiver's software: one packet
// even at the smallest MTU.
inline constexpr std::size_t kMaxRendezvousRequestBytes = 64;

// ibv_tmh without its opcode.
struct TagHeader {
  std::uint32_t user_data = 0;
  std::uint64_t tag = 0;
};

// ibv_rvh: where the payload lies at the sender.
struct RendezvousHeader {
  std::uint64_t address = 0;
  Rkey rkey;
  std::uint32_t length = 0;  // bytes
};

// The kind of a message, by its first packet. `other`: an unknown opcode, or too few or too many bytes for
// its opcode.
enum class TaggedMessageKind : std::uint8_t { other, without_tag, eager, rendezvous };

struct TaggedMessage {
  TaggedMessageKind kind = TaggedMessageKind::other;
  TagHeader header;             // eager, rendezvous
  RendezvousHeader rendezvous;  // rendezvous
};

// Reads a message's first packet; `whole`: it is the only one. A message `without_tag` has an opcode and then
// any bytes; the message that finishes a rendezvous counts as one.
TaggedMessage parse_tagged_message(std::span<const std::byte> payload, bool whole);

// The message that tells the sender of a rendezvous request that its payload has been read: both headers of
// `request`, with the opcode `finish`. `request` must have at least as many bytes.
using RendezvousFinish = std::array<std::byte, kTagHeaderBytes + kRendezvousHeaderBytes>;
RendezvousFinish make_rendezvous_finish(std::span<const std::byte> request);

}  // namespace urnic::wire
