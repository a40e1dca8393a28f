#include "device_model/control/rdma_cm/multicast_groups.hpp"

#include <algorithm>

#include "device_model/control/rdma_cm/infiniband_addresses.hpp"

namespace urnic::control::rdma_cm {
namespace {

using subnet::administration::MembershipRequest;
namespace component = wire::mad::member_component;
namespace join_state = wire::mad::join_state;

constexpr std::uint8_t kSubnetScope = 0x12;  // transient, link-local
constexpr std::uint8_t kIp4Signature = 0x40;
constexpr std::uint8_t kIp6Signature = 0x60;
constexpr std::uint8_t kIpoibSignature = 0x1B;
constexpr std::uint8_t kRdmaCmSignature = 0x01;
constexpr wire::Gid kIp4Broadcast{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}};

// The manager chooses the rest of a group that is made.
constexpr wire::mad::ComponentMask kGroupComponents =
    component::kGroup | component::kPort | component::kQkey | component::kTrafficClass | component::kPkey |
    component::kServiceLevel | component::kFlowLabel | component::kJoinState;
constexpr wire::mad::ComponentMask kComponentsOfBroadcast = component::kMtuSelector | component::kMtu |
                                                            component::kRateSelector | component::kRate |
                                                            component::kHopLimit;

// ff1x:a01b, whatever the scope is: the subnet manager's own groups.
bool is_given_by_manager(const wire::Gid& address) {
  const auto& bytes = address.bytes;
  return bytes[0] == 0xFF && (bytes[1] & 0xF0) == 0x10 && bytes[2] == 0xA0 && bytes[3] == kIpoibSignature;
}

}  // namespace

wire::Gid group_gid(const SocketAddress& group, PortSpace space, wire::Pkey pkey) {
  if (is_any(group)) return {};
  const bool is_ip4 = group.family == Family::ip4;
  if (group.family == Family::ib || (!is_ip4 && is_given_by_manager(group.ip))) return group.ip;
  wire::Gid gid;
  gid.bytes[0] = 0xFF;
  gid.bytes[1] = kSubnetScope;
  gid.bytes[2] = is_ip4 ? kIp4Signature : kIp6Signature;
  gid.bytes[3] = space == PortSpace::udp ? kRdmaCmSignature : kIpoibSignature;
  gid.bytes[4] = static_cast<std::uint8_t>(pkey.value >> 8);
  gid.bytes[5] = static_cast<std::uint8_t>(pkey.value);
  // 28 bits of an IPv4 group, 80 of an IPv6 one.
  const std::size_t kept = is_ip4 ? 4 : 10;
  std::copy(group.ip.bytes.end() - static_cast<std::ptrdiff_t>(kept), group.ip.bytes.end(),
            gid.bytes.end() - static_cast<std::ptrdiff_t>(kept));
  if (is_ip4) gid.bytes[12] &= 0x0F;
  return gid;
}

MembershipRequest group_request(const Id& id, const SocketAddress& group, bool sends_only,
                                const wire::mad::MulticastMemberRecord* broadcast) {
  MembershipRequest request;
  request.components = kGroupComponents;
  if (broadcast != nullptr) {
    request.record = *broadcast;
    request.components |= kComponentsOfBroadcast;
  } else {
    request.record.qkey = kDatagramQkey;
  }
  request.record.pkey = partition_of(id);
  request.record.group = group_gid(group, id.space, request.record.pkey);
  request.record.port = id.local->gid;
  request.record.join_state = sends_only ? join_state::kSendOnlyFullMember : join_state::kFullMember;
  return request;
}

MembershipRequest broadcast_request(const wire::Gid& port) {
  MembershipRequest request;
  request.components = component::kGroup | component::kPort | component::kPkey | component::kJoinState;
  request.record.group =
      group_gid({.family = Family::ip4, .ip = kIp4Broadcast}, PortSpace::ipoib, request.record.pkey);
  request.record.group.bytes[12] = 0xFF;  // all 32 bits, where a group has 28
  request.record.port = port;
  request.record.join_state = join_state::kFullMember;
  return request;
}

}  // namespace urnic::control::rdma_cm
