// What a run of the laboratory is made from.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>

#include "device_model/transport/queue_pair_config.hpp"
#include "device_model/transport/recovery_settings.hpp"
#include "tests/unit/recovery/link.hpp"

namespace urnic::transport::lab {

// The laboratory's moments are spans since its beginning.
inline constexpr Nanoseconds kNever = Nanoseconds::max();

inline double seconds(Nanoseconds span) { return std::chrono::duration<double>(span).count(); }

// What side 1 is for side 0.
enum class Peer : std::uint8_t {
  same_process,  // another QP of the same device process: packets have out-of-band data
  other_host,    // a urnic beyond a network
  soft_roce,     // Linux's responder (soft_roce_responder.hpp) beyond a network
};

// How a Soft-RoCE peer gets its processor (soft_roce_responder.hpp).
struct Processor {
  std::uint32_t burst = 0;
  Nanoseconds pause{0};
};

struct LaboratorySettings {
  Peer peer = Peer::same_process;
  Processor processor;  // of Soft-RoCE
  // Of the two directions, by the side that sends.
  std::array<LinkSettings, 2> links;
  // Of the two sides. What a responder keeps and a requester offers follows from them.
  std::array<RecoverySettings, 2> recovery;
  std::uint32_t path_mtu = 1024;
  std::uint32_t window_packets = 16384;  // of requester and responder
  std::uint32_t send_slots = 128;
  std::uint8_t max_reads = 16;
  std::uint8_t timeout = 8;  // local ACK timeout code, 8: 1.05 ms
  std::uint8_t retry_count = 7;
  wire::Psn first_psn;
  std::uint64_t seed = 1;
};

// One mode and one link for both sides.
inline LaboratorySettings symmetric(RecoveryMode mode, const LinkSettings& link) {
  LaboratorySettings settings;
  settings.links = {link, link};
  for (RecoverySettings& recovery : settings.recovery) recovery.mode = mode;
  return settings;
}

}  // namespace urnic::transport::lab
