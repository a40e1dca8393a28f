// Checks of a request packet that need only the packet, the QP's attributes and the message under way: opcode
// sequence, enabled operations, lengths (IBTA 9.7.4.1.3, 9.7.4.1.4, 9.7.4.1.6).
#pragma once

#include <cstddef>
#include <cstdint>

#include "device_model/transport/queue_pair_config.hpp"
#include "wire/opcode.hpp"

namespace urnic::transport {

// The message that began with a "first" packet and has not seen its "last".
enum class MessageUnderWay : std::uint8_t { none, send, write };

// `unsupported`: the opcode is reserved, or of an operation that is not offered (FLUSH).
enum class RequestKind : std::uint8_t { send, write, read, atomic, atomic_write, unsupported };

// The largest message that RDMA may ask for (IBTA 9.7.4.1.6).
inline constexpr std::uint32_t kMaxRdmaLength = 1u << 31;

// `operation` must not be one of a response.
RequestKind request_kind(wire::Operation operation);

// Takes a receive WQE at the end of an RDMA WRITE (with immediate data).
bool is_write_with_immediate(wire::Operation operation);

// Whether `operation` may come next: middle and last only inside a message of their kind, everything else
// only outside of a message (IBTA 9.7.4.1.3, table 39).
bool follows(MessageUnderWay message, wire::Operation operation);

// Whether the QP's attributes allow remote requests of this kind (IBTA 9.7.4.1.4). SENDs always,
// `unsupported` never.
bool is_enabled(const QpAccess& access, RequestKind kind);

// First and middle packets are exactly one path MTU, last ones 1 to one MTU, only ones 0 to one MTU
// (IBTA 9.7.4.1.6).
bool payload_fits(wire::Operation operation, std::size_t payload, std::uint32_t path_mtu);

// Response packets of a READ of `length` bytes: at least one (IBTA 9.7.5.1.3).
std::uint32_t response_packets(std::uint32_t length, std::uint32_t path_mtu);

}  // namespace urnic::transport
