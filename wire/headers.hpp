// The transport headers of a RoCEv2 packet as plain structs in host byte order (IBTA chapter 9).
//
// The transport receives and sends `TransportHeaders`. The opcode (`traits`) says which of their members have
// a meaning. Only transport_codec.hpp converts between them and bytes.
#pragma once

#include <cstdint>

#include "wire/identifiers.hpp"
#include "wire/opcode.hpp"
#include "wire/psn.hpp"

namespace urnic::wire {

// Base transport header (IBTA 9.2). `reserved6` are the six bits beside FECN and BECN, `reserved7` the seven
// beside AckReq; both are kept so that encoding a decoded packet gives the same bytes.
struct Bth {
  Opcode opcode;
  bool solicited = false;
  bool migration = true;  // MigReq; 1 is the "migrated" state that a QP without path migration reports
  std::uint8_t pad = 0;   // 0 to 3 bytes that fill the payload to a multiple of four
  std::uint8_t version = 0;
  Pkey pkey;
  bool fecn = false;
  bool becn = false;
  std::uint8_t reserved6 = 0;
  Qpn destination;
  bool ack_request = false;
  std::uint8_t reserved7 = 0;
  Psn psn;
  friend bool operator==(const Bth&, const Bth&) = default;
};

// Datagram extended header (IBTA 9.3.2).
struct Deth {
  std::uint32_t qkey = 0;
  std::uint8_t reserved = 0;
  Qpn source;
  friend bool operator==(const Deth&, const Deth&) = default;
};

// XRC extended header (IBTA A14.3).
struct XrcEth {
  std::uint8_t reserved = 0;
  std::uint32_t srq_number = 0;
  friend bool operator==(const XrcEth&, const XrcEth&) = default;
};

// RDMA extended header (IBTA 9.3.3).
struct Reth {
  std::uint64_t virtual_address = 0;
  Rkey rkey;
  std::uint32_t dma_length = 0;
  friend bool operator==(const Reth&, const Reth&) = default;
};

// Atomic extended header (IBTA 9.3.4).
struct AtomicEth {
  std::uint64_t virtual_address = 0;
  Rkey rkey;
  std::uint64_t swap_or_add = 0;
  std::uint64_t compare = 0;
  friend bool operator==(const AtomicEth&, const AtomicEth&) = default;
};

// ACK extended header (IBTA 9.3.5); the syndrome's meaning is in aeth.hpp.
struct Aeth {
  std::uint8_t syndrome = 0;
  Msn msn;
  friend bool operator==(const Aeth&, const Aeth&) = default;
};

// Selective-ack header, our own: follows the AETH of a selective acknowledge (docs/selective-acks.md). The
// BTH's PSN is the first missing one.
struct SelectiveAckEth {
  std::uint8_t reserved = 0;
  Psn latest;                 // of the packet whose arrival is reported
  std::uint64_t earlier = 0;  // bit i: the packet with PSN latest - 1 - i has arrived, too
  friend bool operator==(const SelectiveAckEth&, const SelectiveAckEth&) = default;
};

struct TransportHeaders {
  Bth bth;
  Deth deth;
  XrcEth xrceth;
  Reth reth;
  AtomicEth atomic_eth;
  Aeth aeth;
  std::uint64_t atomic_original = 0;  // AtomicAckETH (IBTA 9.3.5)
  Immediate immediate;                // ImmDt (IBTA 9.3.6)
  Rkey invalidate;                    // IETH (IBTA 9.3.7)
  SelectiveAckEth selective_ack_eth;
  friend bool operator==(const TransportHeaders&, const TransportHeaders&) = default;
};

}  // namespace urnic::wire
