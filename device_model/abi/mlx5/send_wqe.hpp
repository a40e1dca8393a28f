// A send WQE is a row of segments of 16 bytes or multiples of them. It begins at a block of 64 bytes; the
// send queue is a ring of such blocks, and a WQE may go on at the ring's begin. In this order: control, XRC,
// datagram, Ethernet, remote address, atomic, each where opcode and kind of QP have it; then data and inline
// data (as libmlx5 writes it: mlx5_post_send).
#pragma once

#include <cstddef>
#include <cstdint>

#include "device_model/abi/mlx5/big_endian.hpp"
#include "device_model/abi/mlx5/receive_wqe.hpp"

namespace urnic::abi::mlx5 {

inline constexpr std::uint32_t kBlockBytes = 64;
inline constexpr std::uint32_t kUnitBytes = 16;
inline constexpr std::uint32_t kMostUnits = 63;   // the size has six bits
inline constexpr std::uint32_t kMostBlocks = 16;  // which is as many blocks

enum class SendOpcode : std::uint8_t {
  nop = 0x00,
  send_invalidate = 0x01,
  rdma_write = 0x08,
  rdma_write_immediate = 0x09,
  send = 0x0A,
  send_immediate = 0x0B,
  segmented_send = 0x0E,  // a TCP stream cut by the device
  rdma_read = 0x10,
  compare_swap = 0x11,
  fetch_add = 0x12,
  masked_compare_swap = 0x14,
  masked_fetch_add = 0x15,
  local_invalidate = 0x1B,
  change_key = 0x25,  // UMR: binds and invalidates memory windows, among others
};

struct ControlSegment {
  Big32 operation;  // modifier, number of the WQE's first block (16 bits), SendOpcode
  Big32 size;       // QPN (24 bits), units of 16 bytes
  std::uint8_t signature;
  std::uint8_t reserved[2];
  std::uint8_t flags;
  std::uint8_t immediate[4];  // or an R_Key, big endian

  std::uint8_t modifier() const { return static_cast<std::uint8_t>(operation.value() >> 24); }
  std::uint16_t block() const { return static_cast<std::uint16_t>(operation.value() >> 8); }
  SendOpcode opcode() const { return static_cast<SendOpcode>(operation.value() & 0xFF); }
  std::uint32_t units() const { return size.value() & kMostUnits; }
};
static_assert(sizeof(ControlSegment) == 16 && offsetof(ControlSegment, flags) == 11);

// ControlSegment::flags.
inline constexpr std::uint8_t kSolicited = 1 << 1;
// The higher bit of the two that say when a CQE is wanted: always. Without it, after an error alone.
inline constexpr std::uint8_t kSignaled = 1 << 3;
// The upper three bits. 1 waits for a change of keys before it; the others wait for READs and atomics, too.
inline constexpr std::uint8_t fence_mode(std::uint8_t flags) { return flags >> 5; }
inline constexpr std::uint8_t kFenceOfKeys = 1;

struct XrcSegment {
  Big32 srq;
  std::uint8_t reserved[12];
};
static_assert(sizeof(XrcSegment) == 16);

struct RemoteAddressSegment {
  Big64 address;
  Big32 rkey;
  std::uint32_t reserved;
};
static_assert(sizeof(RemoteAddressSegment) == 16 && offsetof(RemoteAddressSegment, rkey) == 8);

struct AtomicSegment {
  Big64 swap_or_add;
  Big64 compare;
};
static_assert(sizeof(AtomicSegment) == 16);

// Where a datagram goes.
struct DatagramSegment {
  Big32 qkey;
  std::uint32_t reserved0;
  Big32 qpn;  // 24 bits, and kLongAddress
  std::uint8_t rate_and_service_level;
  std::uint8_t path_bits;
  Big16 source_port;
  std::uint8_t reserved1[4];
  std::uint8_t destination_mac[6];
  std::uint8_t traffic_class;
  std::uint8_t hop_limit;
  Big32 flow_label;
  std::uint8_t gid[16];
};
static_assert(sizeof(DatagramSegment) == 48 && offsetof(DatagramSegment, qpn) == 8);
static_assert(offsetof(DatagramSegment, destination_mac) == 20 && offsetof(DatagramSegment, gid) == 32);

// Set: the segment has 48 bytes and not 16.
inline constexpr std::uint32_t kLongAddress = 1u << 31;
// The device gives an address handle's number to the library as its peer's Ethernet address: these two
// bytes and the number, which is big endian. The library copies it to each datagram's WQE.
inline constexpr std::uint8_t kAddressHandlePrefix[2] = {0x02, 0x75};

// Of raw packets. `begin_length` bytes of the frame follow from `begin` on; then the segment is filled up to
// a multiple of 16 bytes.
struct EthernetSegment {
  std::uint32_t header_offsets;
  std::uint8_t checksum_flags;
  std::uint8_t reserved0;
  Big16 segment_size;
  std::uint32_t metadata;
  Big16 begin_length;
  std::uint8_t begin[2];
};
static_assert(sizeof(EthernetSegment) == 16 && offsetof(EthernetSegment, begin) == 14);

// EthernetSegment::checksum_flags: what the device makes. Those of headers inside of a tunnel are the
// program's.
inline constexpr std::uint8_t kMakeNetworkChecksum = 1 << 6;
inline constexpr std::uint8_t kMakeTransportChecksum = 1 << 7;

// Set in the first word of a data segment: that many bytes follow this word, and then what fills the last
// unit.
inline constexpr std::uint32_t kInline = 1u << 31;

// What changes in a memory key (UMR).
struct KeyControlSegment {
  std::uint8_t flags;
  std::uint8_t reserved0[3];
  Big16 translation_units;
  Big16 translation_offset;
  Big64 fields;  // those of KeyContextSegment that count
  std::uint8_t reserved1[32];
};
static_assert(sizeof(KeyControlSegment) == 48 && offsetof(KeyControlSegment, fields) == 8);

inline constexpr std::uint8_t kKeyInline = 1 << 7;      // the translation follows in the WQE
inline constexpr std::uint8_t kKeyMustBeFree = 1 << 5;  // type 2 windows that are bound
inline constexpr std::uint8_t kKeyAtOffset = 1 << 4;
inline constexpr std::uint8_t kKeyOfThisQueuePair = 1 << 3;  // type 2 windows that are unbound
inline constexpr std::uint64_t kFieldKey = 1 << 13;
inline constexpr std::uint64_t kFieldFree = 1 << 29;
// All that a bind or an invalidation may name: length, start, key, QP, the four rights, free.
inline constexpr std::uint64_t kWindowFields =
    1 | 1 << 6 | kFieldKey | 1 << 14 | 1 << 18 | 1 << 19 | 1 << 20 | 1 << 21 | kFieldFree;

struct KeyContextSegment {
  std::uint8_t free;
  std::uint8_t reserved0;
  std::uint8_t access;
  std::uint8_t reserved1;
  Big32 qpn_and_key;  // the lower 8 bits are the key's
  std::uint32_t reserved2;
  Big32 pd;
  Big64 start;
  Big64 length;
  std::uint32_t reserved3[5];
  Big32 translation_units;
  std::uint8_t reserved4[3];
  std::uint8_t page_shift;
  std::uint32_t reserved5;
};
static_assert(sizeof(KeyContextSegment) == 64 && offsetof(KeyContextSegment, start) == 16);

inline constexpr std::uint8_t kKeyIsFree = 1 << 6;
inline constexpr std::uint8_t kKeyLocalWrite = 1 << 3;
inline constexpr std::uint8_t kKeyRemoteRead = 1 << 4;
inline constexpr std::uint8_t kKeyRemoteWrite = 1 << 5;
inline constexpr std::uint8_t kKeyAtomic = 1 << 6;

}  // namespace urnic::abi::mlx5
