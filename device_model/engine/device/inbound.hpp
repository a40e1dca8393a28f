// A parsed frame as the transport takes it.
#pragma once

#include <cstdint>

#include "device_model/transport/host.hpp"
#include "wire/frame.hpp"

namespace urnic::engine {

inline transport::InboundPacket inbound_packet(const wire::ParsedFrame& parsed) {
  constexpr std::uint8_t kEcnMask = 3;  // CE is both bits (RFC 3168)
  return {.headers = parsed.transport,
          .payload = parsed.payload,
          .congestion_experienced = (parsed.network.traffic_class & kEcnMask) == kEcnMask};
}

}  // namespace urnic::engine
