// What tests of the recoveries that send again only what is missing are written with, beside
// requester_bench.hpp.
#pragma once

#include "tests/unit/requester/requester_bench.hpp"

namespace urnic::transport::requester_test {

inline constexpr std::uint8_t kSeed = 0x5A;

inline Setup with(RecoveryMode mode, std::uint32_t reordering = 2) {
  Setup setup;
  setup.recovery = {.mode = mode, .reordering = reordering};
  setup.timeout = 14;  // 67 ms: out of the way
  return setup;
}

inline Packet taking_part(Packet packet) {
  packet.selective_acks = SelectiveAcks::yes;
  return packet;
}

// The first missing packet, the one that arrived, and those before it that have, too.
inline Packet selective_ack(std::uint32_t missing, std::uint32_t latest,
                            std::initializer_list<std::uint32_t> others = {}) {
  Packet packet = taking_part(nak(missing, NakCode::psn_sequence_error));
  packet.headers.bth.opcode = wire::kSelectiveAcknowledge;
  packet.headers.selective_ack_eth.latest = wire::Psn(kFirstPsn + latest);
  for (const std::uint32_t other : others) {
    packet.headers.selective_ack_eth.earlier |= std::uint64_t{1} << (latest - 1 - other);
  }
  return packet;
}

inline Packet response(Operation operation, std::uint32_t packet, std::size_t length = 1024) {
  return taking_part(read_response(operation, packet, pattern(length, kSeed, packet * 1024)));
}

// `count` writes of one packet each, under way.
inline void send_writes(RequesterBench& b, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) b.post(WorkOpcode::rdma_write, 64);
  for (std::uint32_t i = 0; i < count; ++i) b.expect(write_only, i);
}

}  // namespace urnic::transport::requester_test
