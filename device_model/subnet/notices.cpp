#include "device_model/subnet/notices.hpp"

#include <algorithm>
#include <cstring>

#include "wire/byte_order.hpp"

namespace urnic::subnet {
namespace {

using namespace wire::mad;

// IBTA 13.4.8.2, the types of generic notices.
constexpr std::uint8_t kUrgent = 1;
constexpr std::uint8_t kSecurity = 2;
constexpr std::uint8_t kInformational = 4;

constexpr std::uint16_t kLinkStateTrap = 128;
constexpr std::uint16_t kPortChangeTrap = 144;
constexpr std::uint16_t kWrongMKeyTrap = 256;
constexpr std::uint16_t kWrongPkeyTrap = 257;
constexpr std::uint16_t kWrongQkeyTrap = 258;

// Of traps 129 to 131, the port's number in the details.
constexpr std::size_t kFaultyPortAt = 4;

bool is_line_fault(const Notice& notice) {
  return notice.trap >= static_cast<std::uint16_t>(LineFault::integrity) &&
         notice.trap <= static_cast<std::uint16_t>(LineFault::silence);
}

bool is_same_kind(const Notice& one, const Notice& other) {
  return one.trap == other.trap &&
         (!is_line_fault(one) || one.details[kFaultyPortAt] == other.details[kFaultyPortAt]);
}

// A manager that does not answer leaves at most one trap of each kind waiting: the newest. Each port of a
// switch has kinds of its own for its line: two, so that there are 512 at most.
void raise(Node& node, const Notice& notice) {
  std::erase_if(node.traps, [&](const PendingTrap& each) { return is_same_kind(each.notice, notice); });
  node.traps.push_back({notice, {++node.last_trap}, true});
}

// An adapter has one port, a switch speaks by its port 0.
const PortInfo& speaker_of(const Node& node) { return node.managed(PortNumber{1}).info; }

Notice notice_of(const Node& node, std::uint8_t type, std::uint16_t trap) {
  Notice notice;
  notice.type = type;
  notice.producer = static_cast<std::uint32_t>(node.info.type);
  notice.trap = trap;
  notice.issuer = speaker_of(node).lid;
  return notice;
}

// A byte with flags and the number of hops, then their ports.
void store_way_back(const Smp& smp, std::byte* to) {
  constexpr std::uint8_t kRoom = 30;
  constexpr std::uint8_t kIsDirected = 0x80;
  constexpr std::uint8_t kIsCut = 0x40;
  const std::uint8_t hops = std::min(smp.hop_count, kRoom);
  to[0] = static_cast<std::byte>(kIsDirected | (smp.hop_count > kRoom ? kIsCut : 0) | hops);
  std::copy_n(smp.return_path.begin(), hops, to + 1);
}

}  // namespace

// The details of trap 128 begin with the switch's LID (IBTA 14.2.5.1).
void raise_link_state(Node& node) {
  Notice notice = notice_of(node, kUrgent, kLinkStateTrap);
  wire::store_be16(notice.details.data(), speaker_of(node).lid.value);
  raise(node, notice);
}

// Two reserved bytes, the LID, two bytes that tell of other changes, the capability mask.
void raise_port_change(Node& node) {
  Notice notice = notice_of(node, kInformational, kPortChangeTrap);
  wire::store_be16(notice.details.data() + 2, speaker_of(node).lid.value);
  wire::store_be32(notice.details.data() + 6, speaker_of(node).capability_mask);
  raise(node, notice);
}

// Two reserved bytes, the LID, the port.
void raise_line_fault(Node& node, PortNumber port, LineFault fault) {
  Notice notice = notice_of(node, kUrgent, static_cast<std::uint16_t>(fault));
  wire::store_be16(notice.details.data() + 2, speaker_of(node).lid.value);
  notice.details[kFaultyPortAt] = static_cast<std::byte>(port);
  raise(node, notice);
}

// Two reserved bytes, the port's LID (as Linux's qib and hfi1 have it), the source of the directed route, the
// method, a reserved byte, the attribute, its modifier, the wrong key, a reserved byte; of a directed route
// the way back, as far as there is room for it.
void raise_wrong_m_key(Node& node, PortNumber arrival, const Smp& smp) {
  Notice notice = notice_of(node, kSecurity, kWrongMKeyTrap);
  notice.issuer = node.managed(arrival).info.lid;
  std::byte* const details = notice.details.data();
  wire::store_be16(details + 2, node.managed(arrival).info.lid.value);
  wire::store_be16(details + 4, smp.directed_source.value);
  details[6] = static_cast<std::byte>(smp.header.method);
  wire::store_be16(details + 8, smp.header.attribute.value);
  wire::store_be32(details + 10, smp.header.attribute_modifier);
  wire::store_be64(details + 14, smp.m_key);
  if (smp.is_directed()) store_way_back(smp, details + 23);
  raise(node, notice);
}

// Two reserved bytes, both LIDs, the key, the service level and the sender's QPN, the receiver's QPN, both
// GIDs.
void raise_key_violation(Node& adapter, const KeyViolations& violations) {
  Notice notice = notice_of(adapter, kSecurity, violations.is_qkey ? kWrongQkeyTrap : kWrongPkeyTrap);
  std::byte* const details = notice.details.data();
  wire::store_be16(details + 2, violations.source.value);
  wire::store_be16(details + 4, violations.destination.value);
  wire::store_be32(details + 6, violations.key);
  wire::store_be32(details + 10, std::uint32_t{violations.service_level} << 28 | violations.source_qpn);
  wire::store_be32(details + 14, violations.destination_qpn);
  std::memcpy(details + 18, violations.source_gid.bytes.data(), violations.source_gid.bytes.size());
  std::memcpy(details + 34, violations.destination_gid.bytes.data(), violations.destination_gid.bytes.size());
  raise(adapter, notice);
}

Mad encode_trap(const PendingTrap& trap) {
  Smp smp;
  smp.header.management_class = ManagementClass::subnet_lid_routed;
  smp.header.class_version = kSubnetClassVersion;
  smp.header.method = Method::trap;
  smp.header.transaction = trap.transaction;
  smp.header.attribute = {static_cast<std::uint16_t>(SubnetAttribute::notice)};
  smp.data = encode_data(trap.notice);
  return encode(smp);
}

bool repress(Node& node, const Smp& smp) {
  const bool is_notice = smp.header.attribute.value == static_cast<std::uint16_t>(SubnetAttribute::notice);
  return is_notice && std::erase_if(node.traps, [&](const PendingTrap& trap) {
                        return trap.transaction == smp.header.transaction;
                      }) != 0;
}

// IBTA 14.2.5.6: 4.096 µs, doubled so many times. No port is in more of a hurry than the floor here: whoever
// is the manager chooses the number.
std::chrono::nanoseconds trap_interval(const Node& node) {
  constexpr std::chrono::nanoseconds kShortest = std::chrono::milliseconds{10};
  const auto chosen = std::chrono::nanoseconds{4096} * (std::int64_t{1} << speaker_of(node).subnet_timeout);
  return std::max(chosen, kShortest);
}

bool may_speak(const Node& node) {
  const PortInfo& speaker = speaker_of(node);
  return speaker.state == PortState::active && node.trap_rest == 0;
}

}  // namespace urnic::subnet
