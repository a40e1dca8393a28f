// A packet that was dropped for its P_Key or Q_Key, as the subnet manager is told of it (IBTA 14.2.5.1, traps
// 257 and 258).
#pragma once

#include <cstdint>

#include "wire/identifiers.hpp"
#include "wire/local_identifier.hpp"

namespace urnic::engine {

struct KeyViolation {
  bool is_qkey = false;
  std::uint32_t key = 0;  // the packet's
  wire::Lid source{};
  wire::Lid destination{};
  std::uint8_t service_level = 0;
  wire::Qpn source_qpn{};  // a datagram's; else 0
  wire::Qpn destination_qpn{};
  wire::Gid source_gid{};  // zeros: the packet had no GRH
  wire::Gid destination_gid{};
};

}  // namespace urnic::engine
