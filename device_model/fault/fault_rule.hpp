// A rule of a fault plan: which packets it takes and what it does to them (docs/faults.md).
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device_model/fault/mad_pattern.hpp"
#include "device_model/link/direction.hpp"
#include "device_model/transport/time.hpp"
#include "wire/identifiers.hpp"

namespace urnic::fault {

// All conditions that are set must hold.
struct Match {
  std::optional<std::uint32_t> device;  // the number of the device on whose link; empty: on any
  link::Direction direction = link::Direction::transmit;
  std::string filter;               // a libpcap expression over the headers; empty: any packet
  std::optional<wire::Qpn> qp;      // that device's QP: the sender of tx packets, the receiver of rx packets
  std::uint32_t qp_ordinal = 0;     // the same by ordinal, the order in which its program opened QPs; 0: any
  std::bitset<256> opcodes;         // none set: any
  std::vector<MadPattern> mads;     // one of these management datagrams; empty: any packet
  std::vector<std::uint32_t> psns;  // empty: any
  bool psns_relative = false;       // to the QP's first PSN
  std::uint32_t transmission = 0;   // the n-th time that the same PSN is sent; 0: any
  // These count the packets for which all of the above holds, for each sending QP by itself:
  std::uint32_t occurrence = 0;  // the n-th; 0: any
  std::uint32_t every = 0;       // every n-th; 0: each
  std::uint32_t count = 0;       // at most this many; 0: no limit
};

enum class ActionKind : std::uint8_t {
  drop,
  duplicate,
  delay,
  reorder,
  corrupt_before_icrc,
  corrupt_after_icrc,
  mark_ecn,
  cnp,
  rnr_nak,
  nak,
  cut_link,
  stop_qp
};

struct Action {
  ActionKind kind = ActionKind::drop;
  std::uint32_t copies = 1;              // duplicate: this many more
  transport::Nanoseconds delay{0};       // delay
  std::uint32_t behind = 1;              // reorder: behind this many packets
  transport::Nanoseconds hold{100'000};  // reorder: held at most this long
  std::vector<std::uint32_t> bits;       // corrupt: counted from the BTH's first bit; empty: one is chosen
  std::uint8_t syndrome = 0;             // rnr_nak, nak: of the AETH
  transport::Nanoseconds cut{0};         // cut_link: for this long
};

struct FaultRule {
  std::string name;
  Match match;
  Action action;
};

}  // namespace urnic::fault
