// Completion queue entries (as libmlx5 reads them: mlx5_poll_cq). The last byte has the opcode in its upper
// four bits and in its lowest whose the entry is. The first lap's entries are the program's with 0 there, the
// next lap's with 1, and so on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device_model/abi/mlx5/big_endian.hpp"

namespace urnic::abi::mlx5 {

enum class CompletionOpcode : std::uint8_t {
  request = 0,
  received_write_immediate = 1,
  received_send = 2,
  received_send_immediate = 3,
  received_send_invalidate = 4,
  resized = 5,  // the queue goes on in other memory
  request_error = 13,
  receive_error = 14,
  none = 15,
};

// In a queue with entries of 128 bytes, this is an entry's second half.
struct Cqe {
  std::uint8_t reserved0[12];
  Big32 flow_hash;  // of a raw packet that came by receive side scaling
  std::uint8_t reserved1[6];
  Big16 source_lid;
  Big32 source;               // QPN (24 bits), service level (4), global route header (2)
  std::uint8_t checksums;     // of a raw packet: k…ChecksumIsRight
  std::uint8_t header_types;  // NetworkHeader, TransportHeader, kFragment
  Big16 vlan;
  Big32 owner;                // the user index of the QP, or of the XRC SRQ
  std::uint8_t immediate[4];  // or an R_Key, big endian
  std::uint8_t application[4];
  Big32 byte_count;
  Big64 timestamp;
  Big32 queue_pair;   // QPN (24 bits); of a send, its SendOpcode above
  Big16 wqe_counter;  // block of a send, index of a receive, slot of a shared receive
  std::uint8_t signature;
  std::uint8_t opcode_and_owner;
};
static_assert(sizeof(Cqe) == 64);
static_assert(offsetof(Cqe, flow_hash) == 12 && offsetof(Cqe, source_lid) == 22 &&
              offsetof(Cqe, source) == 24 && offsetof(Cqe, checksums) == 28);
static_assert(offsetof(Cqe, owner) == 32 && offsetof(Cqe, byte_count) == 44);
static_assert(offsetof(Cqe, timestamp) == 48 && offsetof(Cqe, queue_pair) == 56);
static_assert(offsetof(Cqe, wqe_counter) == 60 && offsetof(Cqe, opcode_and_owner) == 63);

// With an error, these lie in the last two bytes of `timestamp`.
inline constexpr std::size_t kVendorSyndromeOffset = 54;
inline constexpr std::size_t kSyndromeOffset = 55;

// In the last byte.
inline constexpr std::uint8_t kCqeSolicited = 1 << 1;

// In `checksums`. Not set: it is wrong, or there is none.
inline constexpr std::uint8_t kNetworkChecksumIsRight = 1 << 1;
inline constexpr std::uint8_t kTransportChecksumIsRight = 1 << 2;

// In `header_types`, from bit 2 on. The next three are of raw packets only (DPDK's mlx5_ptype_table).
enum class NetworkHeader : std::uint8_t { none = 0, ipv6 = 1 << 2, ipv4 = 2 << 2 };
enum class TransportHeader : std::uint8_t { none = 0, tcp = 1 << 4, udp = 2 << 4 };
inline constexpr std::uint8_t kFragment = 1 << 7;

enum class Syndrome : std::uint8_t {
  local_length = 0x01,
  local_operation = 0x02,
  local_protection = 0x04,
  flushed = 0x05,
  window_bind = 0x06,
  bad_response = 0x10,
  local_access = 0x11,
  remote_invalid_request = 0x12,
  remote_access = 0x13,
  remote_operation = 0x14,
  retries_exceeded = 0x15,
  receiver_not_ready = 0x16,
  remote_aborted = 0x22,
};

}  // namespace urnic::abi::mlx5
