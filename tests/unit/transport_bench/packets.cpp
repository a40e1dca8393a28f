#include "tests/unit/transport_bench/packets.hpp"

#include <utility>

namespace urnic::transport::bench {
namespace {

Packet with_aeth(wire::Operation operation, std::uint32_t psn, std::uint8_t syndrome, std::uint32_t msn,
                 std::vector<std::byte> payload = {}) {
  Packet packet = rc_packet(operation, psn, std::move(payload));
  packet.headers.aeth = {syndrome, wire::Msn{msn & 0xFFFFFF}};
  return packet;
}

}  // namespace

Packet rc_packet(wire::Operation operation, std::uint32_t psn, std::vector<std::byte> payload) {
  Packet packet;
  packet.headers.bth.opcode = wire::Opcode(wire::Service::rc, operation);
  packet.headers.bth.psn = wire::Psn(psn);
  packet.headers.bth.pad = static_cast<std::uint8_t>(-payload.size() & 3);
  packet.payload = std::move(payload);
  return packet;
}

Packet ack(std::uint32_t psn, std::uint32_t msn, std::uint8_t credit_code) {
  return with_aeth(wire::Operation::acknowledge, psn, wire::ack_syndrome(credit_code), msn);
}

Packet nak(std::uint32_t psn, wire::NakCode code, std::uint32_t msn) {
  return with_aeth(wire::Operation::acknowledge, psn, wire::nak_syndrome(code), msn);
}

Packet rnr_nak(std::uint32_t psn, std::uint8_t timer_code, std::uint32_t msn) {
  return with_aeth(wire::Operation::acknowledge, psn, wire::rnr_nak_syndrome(timer_code), msn);
}

Packet read_response(wire::Operation operation, std::uint32_t psn, std::vector<std::byte> payload,
                     std::uint32_t msn, std::uint8_t credit_code) {
  return with_aeth(operation, psn, wire::ack_syndrome(credit_code), msn, std::move(payload));
}

Packet atomic_ack(std::uint32_t psn, std::uint64_t original, std::uint32_t msn, std::uint8_t credit_code) {
  Packet packet = with_aeth(wire::Operation::atomic_acknowledge, psn, wire::ack_syndrome(credit_code), msn);
  packet.headers.atomic_original = original;
  return packet;
}

Packet write_request(wire::Operation operation, std::uint32_t psn, std::uint64_t address, std::uint32_t rkey,
                     std::uint32_t dma_length, std::vector<std::byte> payload) {
  Packet packet = rc_packet(operation, psn, std::move(payload));
  packet.headers.reth = {address, wire::Rkey{rkey}, dma_length};
  return packet;
}

Packet read_request(std::uint32_t psn, std::uint64_t address, std::uint32_t rkey, std::uint32_t dma_length) {
  Packet packet = rc_packet(wire::Operation::read_request, psn);
  packet.headers.reth = {address, wire::Rkey{rkey}, dma_length};
  return packet;
}

Packet compare_swap_request(std::uint32_t psn, std::uint64_t address, std::uint32_t rkey,
                            std::uint64_t compare, std::uint64_t swap) {
  Packet packet = rc_packet(wire::Operation::compare_swap, psn);
  packet.headers.atomic_eth = {address, wire::Rkey{rkey}, swap, compare};
  return packet;
}

Packet fetch_add_request(std::uint32_t psn, std::uint64_t address, std::uint32_t rkey, std::uint64_t add) {
  Packet packet = rc_packet(wire::Operation::fetch_add, psn);
  packet.headers.atomic_eth = {address, wire::Rkey{rkey}, add, 0};
  return packet;
}

}  // namespace urnic::transport::bench
