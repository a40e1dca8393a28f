// What a node tells the subnet manager unasked: traps, each with a notice (IBTA 13.4.8.2, 14.2.5.1). An agent
// repeats a trap until the manager represses it (13.4.9).
#pragma once

#include <chrono>

#include "device_model/subnet/node.hpp"
#include "wire/identifiers.hpp"
#include "wire/mad/mad_header.hpp"
#include "wire/mad/smp.hpp"

namespace urnic::subnet {

// Trap 128: the link of one of a switch's ports has come up or gone down.
void raise_link_state(Node& node);
// Trap 144: the port's capabilities have changed.
void raise_port_change(Node& node);
// Traps 129 to 131, by their numbers: what the line of one of the node's ports does wrong. 130, for buffers
// that overrun, is not there: nothing is sent without credits.
enum class LineFault : std::uint16_t { integrity = 129, silence = 131 };
void raise_line_fault(Node& node, PortNumber port, LineFault fault);
// Trap 256: `smp` has come to the port `arrival` with a wrong M_Key.
void raise_wrong_m_key(Node& node, PortNumber arrival, const wire::mad::Smp& smp);

// Packets that an adapter's port has dropped for their P_Key or Q_Key.
struct KeyViolations {
  std::uint64_t pkeys = 0;  // how many, since the last time
  std::uint64_t qkeys = 0;
  // The last of them.
  bool is_qkey = false;
  std::uint32_t key = 0;
  wire::mad::Lid source{};
  wire::mad::Lid destination{};
  std::uint8_t service_level = 0;
  std::uint32_t source_qpn = 0;  // 0: not known
  std::uint32_t destination_qpn = 0;
  wire::Gid source_gid{};
  wire::Gid destination_gid{};
};
// Traps 257 (P_Key) and 258 (Q_Key).
void raise_key_violation(Node& adapter, const KeyViolations& violations);

// The datagram of a trap; its destination is the manager's LID at QP0.
wire::mad::Mad encode_trap(const PendingTrap& trap);

// A manager's TrapRepress: the trap with its transaction is not sent again. False: there is none.
bool repress(Node& node, const wire::mad::Smp& smp);

// How long the agent waits before it sends a trap again, or another one: the port's SubnetTimeOut
// (IBTA 14.2.5.6), or 10 ms if that is longer.
std::chrono::nanoseconds trap_interval(const Node& node);

// Whether the agent may send a trap now: its port is active, and the last trap was long enough ago.
bool may_speak(const Node& node);

}  // namespace urnic::subnet
