// Whether two packets with one PSN are copies of each other. What a requester sends again has the same bytes
// (IBTA 9.7.5.1), but for AckReq and the marks of congestion; so of two that differ one is not the peer's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "device_model/transport/host.hpp"

namespace urnic::transport {

// By their headers alone: those that the opcode has.
bool same_headers(const wire::TransportHeaders& one, const wire::TransportHeaders& other);
bool same_request(const InboundPacket& one, const InboundPacket& other);
// Of bytes that are not kept. Not one that an attacker could not collide: it compares a packet with what the
// same sender is to send again.
std::uint64_t hash_of(std::span<const std::byte> bytes);

}  // namespace urnic::transport
