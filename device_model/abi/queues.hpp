// Layout of work queues and completion queues in the memory that provider and device share. All integers are
// little endian, all offsets fixed.
//
// Every queue is a ring of a power of two of equal slots. Producer and consumer indices run freely over 32
// bits; a slot's place is `index & (slots - 1)`. The device treats all of it as hostile: it copies a WQE
// once, masks indices and never reads a word twice.
#pragma once

#include <atomic>
#include <cstdint>

namespace urnic::abi {

// Opcodes of send WQEs; the values are those of ibv_wr_opcode.
enum class SendOpcode : std::uint8_t {
  rdma_write = 0,
  rdma_write_with_immediate = 1,
  send = 2,
  send_with_immediate = 3,
  rdma_read = 4,
  atomic_compare_swap = 5,
  atomic_fetch_add = 6,
  local_invalidate = 7,
  bind_memory_window = 8,
  send_with_invalidate = 9,
  atomic_write = 15,  // inline, 8 bytes
};

// Flags of send WQEs; the values are those of ibv_send_flags.
enum SendFlag : std::uint8_t {
  send_fence = 1 << 0,
  send_signaled = 1 << 1,
  send_solicited = 1 << 2,
  send_inline = 1 << 3,
};

// A segment of a WQE: `length` bytes at `address`, in the iova space of the region of `lkey`.
struct ScatterGather {
  std::uint64_t address;
  std::uint32_t length;
  std::uint32_t lkey;
};
static_assert(sizeof(ScatterGather) == 16);

// The head of a send queue slot. `sge_count` ScatterGather entries follow or, with send_inline,
// `inline_length` bytes of data.
struct SendWqe {
  std::uint8_t opcode;  // SendOpcode
  std::uint8_t flags;   // SendFlag values
  std::uint8_t sge_count;
  std::uint8_t reserved0;
  std::uint32_t inline_length;
  std::uint32_t immediate_or_rkey;  // immediate data as on the wire, or the R_Key to invalidate in host order
  std::uint32_t rkey;               // of remote memory; for bind_memory_window: the window's current R_Key
  std::uint64_t remote_address;     // for bind_memory_window: the window's first address
  std::uint64_t compare_add;        // for bind_memory_window: the window's length
  std::uint64_t swap;               // for bind_memory_window: access flags
  std::uint32_t bind_lkey;    // bind_memory_window: the region's lkey; the new R_Key is in immediate_or_rkey
  std::uint32_t remote_qpn;   // datagrams
  std::uint32_t remote_qkey;  // datagrams
  std::uint32_t address_handle;  // datagrams: CreateAhReply::number
  std::uint32_t remote_srq;      // extended reliable connections: number of the peer's SRQ
  std::uint32_t reserved1;
};
static_assert(sizeof(SendWqe) == 64);

// The head of a receive queue slot; `sge_count` ScatterGather entries follow.
struct ReceiveWqe {
  std::uint32_t sge_count;
  std::uint32_t reserved[3];
};
static_assert(sizeof(ReceiveWqe) == 16);

// Flags of a CQE.
enum CqeFlag : std::uint8_t {
  cqe_receive = 1 << 0,          // completes a receive WQE (else a send WQE)
  cqe_with_immediate = 1 << 1,   // `immediate_or_rkey` is immediate data
  cqe_with_invalidate = 1 << 2,  // `immediate_or_rkey` is the R_Key that was invalidated
  cqe_grh = 1 << 3,              // datagrams: a GRH precedes the data
  cqe_inline = 1 << 4,  // `byte_length` bytes (at most kCqeInlineBytes) are in `inline_data`, not in memory
  cqe_shared_receive = 1 << 5,  // the receive WQE was in slot `wqe_index` of SRQ `shared_receive_queue`
  // The first 8 bytes of `inline_data` are the time, in nanoseconds of CLOCK_MONOTONIC.
  cqe_timestamp = 1 << 6,
  cqe_over_ipv6 = 1 << 7,  // with cqe_grh: the header is IPv6's, else IPv4's
};

// cqe_inline is for small receives: the polling program copies the data to the WQE's segments, whose
// addresses are those of the process that registered them. The device has checked the segments when the
// message arrived. It sets cqe_inline only for a SEND of one packet, if each segment's region has iova ==
// address and gives peers no right to it, and only as long as the context has had one process.
inline constexpr std::uint32_t kCqeInlineBytes = 32;

// One completion. Written by the device, `phase` last, with release order. The entry at consumer index i is
// valid if phase is 1 for even, 0 for odd values of i / slots.
struct Cqe {
  std::uint32_t qpn;
  std::uint32_t wqe_index;  // free-running index of the WQE; send: all earlier WQEs of the queue are done too
  std::uint8_t opcode;      // value of ibv_wc_opcode
  std::uint8_t status;      // value of ibv_wc_status
  std::uint8_t flags;       // CqeFlag values
  std::uint8_t tag_flags;   // of a completion of tag matching (tag_matching.hpp)
  std::uint32_t byte_length;
  std::uint32_t immediate_or_rkey;  // immediate data as on the wire, or an R_Key in host order
  std::uint32_t error_or_route;     // vendor error of a failed one; else of a datagram: pack_local_route
  std::uint32_t source_qpn;
  std::uint8_t inline_data[kCqeInlineBytes];
  std::uint8_t shared_receive_queue[3];  // with cqe_shared_receive: the SRQ's number, low byte first
  std::atomic<std::uint8_t> phase;
};
static_assert(sizeof(Cqe) == 64);

// The way of a datagram in an InfiniBand subnet: the sender's LID, the service level, the path bits of the
// LID that it was sent to. 0: it came by Ethernet.
constexpr std::uint32_t pack_local_route(std::uint16_t source_lid, std::uint8_t service_level,
                                         std::uint8_t path_bits) {
  return source_lid | std::uint32_t{service_level} << 16 | std::uint32_t{path_bits} << 24;
}
constexpr std::uint16_t source_lid_of(std::uint32_t route) { return static_cast<std::uint16_t>(route); }
constexpr std::uint8_t service_level_of(std::uint32_t route) {
  return static_cast<std::uint8_t>(route >> 16);
}
constexpr std::uint8_t path_bits_of(std::uint32_t route) { return static_cast<std::uint8_t>(route >> 24); }

// The SRQ number of a CQE with cqe_shared_receive, 24 bits.
inline void set_shared_receive_queue(Cqe& cqe, std::uint32_t number) {
  for (int i = 0; i < 3; ++i) cqe.shared_receive_queue[i] = static_cast<std::uint8_t>(number >> 8 * i);
}
inline std::uint32_t shared_receive_queue_of(const Cqe& cqe) {
  const std::uint8_t* const bytes = cqe.shared_receive_queue;
  return bytes[0] | std::uint32_t{bytes[1]} << 8 | std::uint32_t{bytes[2]} << 16;
}

// The control words of a QP; one block per QP in an arena. When the QP enters the error state, the device
// stores 1 to `in_error`, then looks at both producers once more and flushes; when the QP leaves that state,
// it stores 0. Posting a receive rings the doorbell only while `in_error` is set. The poster stores
// `receive_producer`, makes a full fence and then loads `in_error`, so that a receive posted late gets its
// flush error too.
struct alignas(64) QueuePairIndices {
  alignas(64) std::atomic<std::uint32_t> send_producer;     // written by the provider
  alignas(64) std::atomic<std::uint32_t> receive_producer;  // written by the provider
  std::atomic<std::uint32_t> in_error;                      // written by the device
};
static_assert(sizeof(QueuePairIndices) == 128);

// The control words of a shared receive queue, whose WQEs are not used up in order. The provider takes any
// free slot, writes a ReceiveWqe there, and then writes the slot's number into a ring of 32-bit words, which
// has as many words as there are slots. The device takes numbers out of the ring in order. A slot is the
// device's from the store to `producer` until the receive completion that names the slot.
struct alignas(64) SharedReceiveIndices {
  std::atomic<std::uint32_t> producer;  // of the ring of numbers; written by the provider
};
static_assert(sizeof(SharedReceiveIndices) == 64);

// Which completion the provider wants an event for: the low two bits of `arm`. The bits above count requests,
// so that each request is a new value.
enum class ArmKind : std::uint32_t { none = 0, solicited = 1, next = 2 };

// The control words of a CQ; one block per CQ in an arena. The device raises an event when a completion that
// `arm` asks for is added while arm != arm_fired, and then sets arm_fired = arm.
struct alignas(64) CompletionQueueIndices {
  alignas(64) std::atomic<std::uint32_t> consumer;   // written by the provider
  std::atomic<std::uint32_t> arm;                    // written by the provider: request count << 2 | ArmKind
  alignas(64) std::atomic<std::uint32_t> arm_fired;  // written by the device
};
static_assert(sizeof(CompletionQueueIndices) == 128);

}  // namespace urnic::abi
