#include "device_model/transport/unreliable/unreliable_datagram.hpp"

#include "device_model/transport/datagram_address.hpp"
#include "device_model/transport/partition_key.hpp"

namespace urnic::transport {
namespace {

// If this bit is set in a work request's Q_Key, the QP's own Q_Key is sent instead: Q_Keys with this bit are
// controlled, not every program may use one (IBTA 10.2.5).
constexpr std::uint32_t kControlledQkey = 1u << 31;

// An IPv4 header has zeros in front (IBTA A17.4.5.2).
bool is_ipv6(std::span<const std::byte> grh) { return (grh[0] >> 4) == std::byte{6}; }

// On InfiniBand a packet need not have one; then all of its bytes are zero.
bool has_grh(std::span<const std::byte> grh) {
  constexpr std::size_t kIpv4InGrh = 20;
  return grh[0] != std::byte{0} || grh[kIpv4InGrh] != std::byte{0};
}

}  // namespace

WorkStatus UnreliableDatagram::check(const SendRequest& request) const {
  const bool is_send =
      request.opcode == WorkOpcode::send || request.opcode == WorkOpcode::send_with_immediate;
  if (!is_send) return WorkStatus::local_qp_operation_error;
  const DatagramAddress* const address = config().addresses->find(request.address_handle);
  if (address == nullptr || address->pd != config().pd) return WorkStatus::local_qp_operation_error;
  return request.length > parameters().path_mtu ? WorkStatus::local_length_error : WorkStatus::success;
}

WorkStatus UnreliableDatagram::send_packet(const SendRequest& request, std::uint32_t, std::uint32_t,
                                           Time now) {
  OutboundPacket packet;
  // It exists: the request was checked in this batch.
  packet.address = config().addresses->find(request.address_handle);
  const auto length = static_cast<std::uint32_t>(request.length);
  const bool immediate = request.opcode == WorkOpcode::send_with_immediate;
  wire::Bth& bth = packet.headers.bth;
  bth.opcode = wire::Opcode(wire::Service::ud,
                            immediate ? wire::Operation::send_only_immediate : wire::Operation::send_only);
  bth.solicited = request.solicited;
  bth.pad = static_cast<std::uint8_t>(-length & 3);
  bth.pkey = parameters().pkey;
  bth.destination = request.remote_qpn;
  bth.psn = next_psn_;
  packet.headers.deth.qkey =
      (request.remote_qkey & kControlledQkey) != 0 ? parameters().qkey : request.remote_qkey;
  packet.headers.deth.source = config().qpn;
  packet.headers.immediate = request.immediate;
  const WorkStatus status = send_with_payload(packet, request, 0, length, now);
  if (status != WorkStatus::success) return status;
  next_psn_ = next_psn_ + 1;
  const std::uint32_t rate = packet.address->static_rate_kbps;
  if (rate != 0) [[unlikely]]
    pace().sent_to(rate, now, config().host->frame_bytes(packet));
  return status;
}

// Packets that are not for this QP are dropped silently (IBTA 9.6.1, 9.8.3.2).
bool UnreliableDatagram::is_let_in(const InboundPacket& packet) {
  const wire::Bth& bth = packet.headers.bth;
  if (!wire::traits(bth.opcode).known || bth.opcode.service() != wire::Service::ud) return false;
  if (!is_in_partition(bth.pkey, parameters().pkey, counters())) return false;
  if (packet.headers.deth.qkey != parameters().qkey) {
    ++counters().qkey_violations;
    return false;
  }
  return packet.payload.size() <= parameters().path_mtu && packet.grh.size() == kGrhBytes;
}

void UnreliableDatagram::take_packet(const InboundPacket& packet) {
  if (!is_let_in(packet) || !receive_whole(packet.grh, packet.payload, packet.headers.bth.psn)) return;
  Completion completion;
  completion.opcode = CompletionOpcode::receive;
  completion.byte_length = static_cast<std::uint32_t>(receives().placed());
  completion.with_immediate = (wire::traits(packet.headers.bth.opcode).headers & wire::has_immediate) != 0;
  completion.immediate = packet.headers.immediate;
  completion.with_grh = has_grh(packet.grh);
  completion.over_ipv6 = is_ipv6(packet.grh);
  completion.local_route = packet.local_route;
  completion.solicited = packet.headers.bth.solicited;
  receives().complete(completion, packet.headers.deth.source);
}

}  // namespace urnic::transport
