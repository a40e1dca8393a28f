// Responders that keep what arrives out of order, and what their peers see of it.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/unit/responder/responder_bench.hpp"
#include "wire/transport_codec.hpp"

namespace urnic::transport::bench {

// Its peer speaks the specification only.
struct KeepingBench : ResponderBench {
  explicit KeepingBench(std::uint32_t slots = kSlots) : ResponderBench(RecoveryMode::selective, slots) {}
};

// From a peer that reads selective acks.
inline Packet offered(Packet packet) {
  packet.selective_acks = SelectiveAcks::yes;
  return packet;
}

// Its peer says with every request that it reads selective acks.
struct ReportingBench : ResponderBench {
  explicit ReportingBench(std::uint32_t slots = kSlots, ReorderPool* shared_pool = nullptr)
      : ResponderBench(RecoveryMode::sack, slots, shared_pool) {}

  void give(Packet packet) { ResponderBench::give(offered(std::move(packet))); }
  void ask(Packet packet) { ResponderBench::ask(offered(std::move(packet))); }
};

inline bool is_selective(const SentPacket& packet) {
  return packet.headers.bth.opcode == wire::kSelectiveAcknowledge;
}

// A NAK for a sequence error at `of` that reports `latest` and, as set bits, what came before it.
inline bool is_report(const SentPacket& packet, wire::Psn of, wire::Psn latest, std::uint64_t earlier) {
  return is_nak(packet, of, wire::NakCode::psn_sequence_error) && is_selective(packet) &&
         packet.headers.selective_ack_eth.reserved == 0 &&
         packet.headers.selective_ack_eth.latest == latest &&
         packet.headers.selective_ack_eth.earlier == earlier;
}

// `earlier` of a report whose first `missing` earlier PSNs are as `low_bits` says, all before them here.
inline std::uint64_t all_before(std::uint32_t missing, std::uint64_t low_bits = 0) {
  return (missing >= 64 ? 0 : ~std::uint64_t{0} << missing) | low_bits;
}

}  // namespace urnic::transport::bench
