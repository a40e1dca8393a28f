// Management datagrams (MADs, IBTA 13.4) on their way between the engine's thread and the control thread.
//
// Plain bytes and integers without initialisers, so that rings of them cost nothing until they are used.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "wire/frame.hpp"
#include "wire/identifiers.hpp"

namespace urnic::engine {

inline constexpr std::size_t kMadBytes = 256;                  // IBTA 13.4.2
inline constexpr std::uint32_t kManagementQkey = 0x8001'0000;  // IBTA 3.5.3: the Q_Key of QP1
inline constexpr wire::Qpn kGeneralServicesQpn{1};             // IBTA 3.5.10

class ManagementQueuePair;

// A MAD that arrived, with what an answer to it needs.
struct ArrivedDatagram {
  ManagementQueuePair* queue_pair;    // that it arrived at
  std::array<std::uint8_t, 16> own;   // the GID that it was sent to
  std::array<std::uint8_t, 16> peer;  // the GID that it came from
  std::array<std::uint8_t, 6> peer_mac;
  std::uint32_t peer_qpn;
  std::uint32_t flow_label;
  std::uint8_t traffic_class;
  std::uint8_t service_level;  // on Ethernet the priority of its VLAN tag; 0: it had none
  std::uint16_t peer_lid;      // on InfiniBand; else 0
  std::uint16_t pkey_index;    // of the port's P_Key that is of the MAD's partition
  std::uint8_t hop_limit;
  std::array<std::byte, kMadBytes> mad;
};

// A frame that is ready to leave: headers and trailer around the MAD.
struct LeavingDatagram {
  wire::FrameStorage storage;
  std::uint32_t header_bytes;
  std::uint32_t trailer_bytes;
  std::array<std::byte, kMadBytes> mad;
};

}  // namespace urnic::engine
