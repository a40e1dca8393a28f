// Builders of packets to inject. A `Packet` owns its payload; the spans that it lends live as long as it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device_model/transport/host.hpp"
#include "wire/aeth.hpp"
#include "wire/headers.hpp"

namespace urnic::transport::bench {

struct Packet {
  wire::TransportHeaders headers;
  std::vector<std::byte> payload;
  SelectiveAcks selective_acks = SelectiveAcks::no;
  std::uint16_t source_port = 0;
  bool congestion_experienced = false;

  InboundPacket inbound() const {
    return {.headers = headers,
            .payload = payload,
            .congestion_experienced = congestion_experienced,
            .selective_acks = selective_acks,
            .source_port = source_port};
  }
};

// Any RC packet; callers fill the headers that its opcode has.
Packet rc_packet(wire::Operation operation, std::uint32_t psn, std::vector<std::byte> payload = {});

// Responses. Credits are given as the five-bit code; 31 disables the requester's credit check.
Packet ack(std::uint32_t psn, std::uint32_t msn = 0, std::uint8_t credit_code = wire::kInvalidCreditCode);
Packet nak(std::uint32_t psn, wire::NakCode code, std::uint32_t msn = 0);
Packet rnr_nak(std::uint32_t psn, std::uint8_t timer_code, std::uint32_t msn = 0);
// `operation` is one of the four read responses.
Packet read_response(wire::Operation operation, std::uint32_t psn, std::vector<std::byte> payload,
                     std::uint32_t msn = 0, std::uint8_t credit_code = wire::kInvalidCreditCode);
Packet atomic_ack(std::uint32_t psn, std::uint64_t original, std::uint32_t msn = 0,
                  std::uint8_t credit_code = wire::kInvalidCreditCode);

// Requests.
Packet write_request(wire::Operation operation, std::uint32_t psn, std::uint64_t address, std::uint32_t rkey,
                     std::uint32_t dma_length, std::vector<std::byte> payload);
Packet read_request(std::uint32_t psn, std::uint64_t address, std::uint32_t rkey, std::uint32_t dma_length);
Packet compare_swap_request(std::uint32_t psn, std::uint64_t address, std::uint32_t rkey,
                            std::uint64_t compare, std::uint64_t swap);
Packet fetch_add_request(std::uint32_t psn, std::uint64_t address, std::uint32_t rkey, std::uint64_t add);

}  // namespace urnic::transport::bench
