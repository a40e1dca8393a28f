// The packet by which a receiver tells a sender of congestion (CNP, IBTA A17.9.3).
#pragma once

#include <array>
#include <cstddef>

#include "wire/headers.hpp"
#include "wire/identifiers.hpp"
#include "wire/opcode.hpp"

namespace urnic::wire {

// What follows its BTH: reserved bytes.
inline constexpr std::array<std::byte, 16> kNotificationPayload{};

// The headers of a notification to the queue pair whose packet was marked: BECN is set, the PSN is 0.
inline TransportHeaders congestion_notification(Pkey pkey, Qpn destination) {
  TransportHeaders headers;
  headers.bth.opcode = kCongestionNotification;
  headers.bth.pkey = pkey;
  headers.bth.destination = destination;
  headers.bth.becn = true;
  return headers;
}

}  // namespace urnic::wire
