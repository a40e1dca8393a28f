#include "device_model/engine/device.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "device_model/engine/round/round.hpp"
#include "device_model/engine/steering/rss_table.hpp"
#include "device_model/transport/unreliable/unreliable_datagram.hpp"
#include "wire/frame_check_sequence.hpp"
#include "wire/frame_checksums.hpp"
#include "wire/identifiers.hpp"
#include "wire/infiniband/local_route_header.hpp"
#include "wire/network_codec.hpp"

namespace urnic::engine {

namespace {

using wire::infiniband::kLocalRouteBytes;

// A parsed frame in the transport's form.
transport::InboundPacket inbound_packet(const wire::ParsedFrame& parsed) {
  constexpr std::uint8_t kEcnMask = 3;  // CE is both bits (RFC 3168)
  return {.headers = parsed.transport,
          .payload = parsed.payload,
          .congestion_experienced = (parsed.network.traffic_class & kEcnMask) == kEcnMask,
          .source_port = parsed.network.udp_source};
}

// Whether the link layer's address is a group's, too: on Ethernet that group's.
bool is_group_address(const wire::NetworkHeaders& network) {
  if (network.local) return wire::is_multicast(network.local->destination);
  return network.destination_mac == wire::multicast_mac(network.destination);
}

// What a completion says of the packet's LRH (IBTA 11.4.2.1). The path bits are those of the destination LID.
transport::LocalRoute local_route_of(const wire::LocalRoute& local, const LocalLids& own) {
  const bool to_group = wire::is_multicast(local.destination);
  const auto path_bits = static_cast<std::uint8_t>(local.destination.value & ((1u << own.lmc) - 1));
  return {.source_lid = local.source.value,
          .service_level = local.service_level,
          .path_bits = to_group ? std::uint8_t{0} : path_bits};
}

}  // namespace

Device::Device(const DeviceConfig& config, Round& round, link::Uplink& uplink)
    : config_(config),
      round_(round),
      events_(round.notifications()),
      memory_table_(config.max_memory_keys, config.numbers),
      address_handles_(config.max_address_handles),
      queue_pairs_(config.max_qp, config.numbers),
      shared_receive_queues_(config.max_srq, config.numbers),
      egress_(uplink.attach(config.mac, *this, config.name), port_counters_),
      resources_{.round = round,
                 .memory_table = memory_table_,
                 .address_handles = address_handles_,
                 .multicast_groups = multicast_groups_,
                 .notified_peers = notified_peers_,
                 .queue_pairs = queue_pairs_,
                 .shared_receive_queues = shared_receive_queues_,
                 .counters = counters_,
                 .port = egress_,
                 .ingress = *this,
                 .number = config.number,
                 .mac = config.mac,
                 .link_layer = config.link_layer,
                 .icrc = config.icrc} {}

Device::~Device() = default;

// Whether an InfiniBand port is active is its subnet manager's to say.
void Device::link_changed(bool up) {
  if (!up) ++port_counters_.link_downed;
  if (config_.link_layer == wire::LinkLayer::infiniband) return;
  events_.raise(up ? DeviceEvent::port_active : DeviceEvent::port_error);
}

void Device::set_gids(const std::vector<LocalGid>& gids) {
  config_.gids.clear();
  std::copy_if(gids.begin(), gids.end(), std::back_inserter(config_.gids),
               [](const LocalGid& each) { return each.gid != wire::Gid{}; });
  events_.raise(DeviceEvent::gid_change);
}

void Device::set_lids(const LocalLids& lids) {
  if (lids == lids_) return;
  lids_ = lids;
  queue_pairs_.for_each([&](QueuePairContext& queue_pair) { queue_pair.follow_lids(lids); });
  address_handles_.follow_lids(lids);
}

void Device::set_pkeys(std::span<const std::uint16_t> pkeys) {
  queue_pairs_.for_each([&](QueuePairContext& queue_pair) { queue_pair.follow_pkeys(pkeys); });
  for (ManagementReceiver* const receiver : management_)
    if (receiver != nullptr) receiver->follow_pkeys(pkeys);
}

// Of the packet that has just arrived. The queue pairs of a group may have counted it several times.
void Device::note_violation() {
  const wire::NetworkHeaders& network = parsed_.network;
  const wire::TransportHeaders& transport = parsed_.transport;
  const bool is_datagram = transport.bth.opcode.service() == wire::Service::ud;
  const bool has_gids = network.local && network.local->with_grh;
  const bool is_qkey = counters_.pkey_violations == pkey_violations_seen_;
  last_violation_ = {
      .is_qkey = is_qkey,
      .key = is_qkey ? transport.deth.qkey : std::uint32_t{transport.bth.pkey.value},
      .source = network.local ? network.local->source : wire::Lid{},
      .destination = network.local ? network.local->destination : wire::Lid{},
      .service_level = network.local ? network.local->service_level : std::uint8_t{0},
      .source_qpn = is_datagram ? transport.deth.source : wire::Qpn{},
      .destination_qpn = transport.bth.destination,
      .source_gid = has_gids ? network.source : wire::Gid{},
      .destination_gid = has_gids ? network.destination : wire::Gid{},
  };
  pkey_violations_seen_ = counters_.pkey_violations;
  qkey_violations_seen_ = counters_.qkey_violations;
}

std::uint32_t Device::ordinal_of(wire::Qpn qpn) const {
  const QueuePairContext* const queue_pair = queue_pairs_.find(qpn);
  return queue_pair != nullptr ? queue_pair->ordinal() : 0;
}

std::optional<link::Connection> Device::connection_of(wire::Qpn qpn) const {
  const QueuePairContext* const queue_pair = queue_pairs_.find(qpn);
  return queue_pair != nullptr ? queue_pair->connection() : std::nullopt;
}

// Drops a malformed packet silently (IBTA 9.6). But a responder whose service answers requests refuses a
// reserved opcode itself (IBTA 9.7.4.1.4).
void Device::arrive(const wire::Frame& frame, const link::PacketOrigin& origin) {
  ++port_counters_.received_packets;
  port_counters_.received_bytes += frame.size();
  const wire::ParseError error = wire::parse(frame, parsed_);
  if (!steering_.empty() && steer(frame, origin, error)) [[unlikely]]
    return count_group(frame);
  const bool reserved = error == wire::ParseError::unknown_opcode &&
                        wire::is_acknowledged(parsed_.transport.bth.opcode.service());
  if (error != wire::ParseError::none && !reserved) return refuse(frame, origin, error);
  hand_on(frame, origin, error);
  if (counters_.pkey_violations != pkey_violations_seen_ ||
      counters_.qkey_violations != qkey_violations_seen_) [[unlikely]]
    note_violation();
}

// To the packet's queue pair. `error`: none, or the opcode is reserved.
void Device::hand_on(const wire::Frame& frame, const link::PacketOrigin& origin, wire::ParseError error) {
  QueuePairContext* const queue_pair = queue_pairs_.find(parsed_.transport.bth.destination);
  const bool connected =
      queue_pair != nullptr && is_to_this_port() && queue_pair->is_on_path(parsed_.network);
  if (!connected)
    return error != wire::ParseError::none ? refuse(frame, origin, error)
                                           : arrive_beside_connections(frame, queue_pair);
  if (!queue_pair->is_from_peer(origin)) [[unlikely]] {
    ++port_counters_.wrong_origin;
    return;
  }
  if (queue_pair->is_stalled()) [[unlikely]]
    return queue_pair->hold(frame, origin);
  transport::InboundPacket packet = inbound_packet(parsed_);
  packet.selective_acks = origin.selective_acks;
  queue_pair->receive(packet);
}

void Device::arrive_again(const wire::Frame& frame, const link::PacketOrigin& origin) {
  --port_counters_.received_packets;
  port_counters_.received_bytes -= frame.size();
  arrive(frame, origin);
}

// The fabric counts its error (link::LineErrors).
void Device::arrive_damaged(const wire::Frame& frame) {
  ++port_counters_.received_packets;
  port_counters_.received_bytes += frame.size();
}

// Not for a connection's packets: none of them is to a group.
void Device::count_group(const wire::Frame& frame) {
  port_counters_.received_multicast += is_to_group(frame);
}

// A frame that is not RoCE belongs to other software, the host's first of all, and is no error. Nor is a
// fragment of an IP packet RoCE (IBTA A17.3.1.1.5).
void Device::refuse(const wire::Frame& frame, const link::PacketOrigin& origin, wire::ParseError error) {
  count_group(frame);
  const bool is_roce = error != wire::ParseError::not_roce && error != wire::ParseError::fragment;
  if (host_ != nullptr && !is_roce) return host_->arrive(frame, origin);
  if (error == wire::ParseError::not_roce) {
    ++port_counters_.not_roce;
    return;
  }
  ++port_counters_.receive_errors;
  port_counters_.icrc_errors += error == wire::ParseError::bad_icrc;
}

std::uint32_t Device::add_steering_rule(const SteeringRule& rule) {
  const std::uint32_t number = steering_.add(rule);
  steering_.reserve(steered_to_);
  return number;
}

// Only sniffer rules see RoCE packets for a queue pair of this device, whichever program has the rule: on a
// NIC such packets never reach the tables of raw packet rules (mlx5: RoCE has its own table, RDMA_RX).
// Default rules also leave RoCE packets for unknown QPNs alone. True if the frame goes no further.
bool Device::steer(const wire::Frame& frame, const link::PacketOrigin& origin, wire::ParseError parsed) {
  steered_to_.clear();
  const FrameHeaders headers = read_headers(frame.headers);
  const bool roce = parsed == wire::ParseError::none || parsed == wire::ParseError::unknown_opcode;
  const std::optional<PacketOwner> owned = roce ? owner() : std::nullopt;
  const RuleKind last = owned ? RuleKind::sniffer : RuleKind::normal;
  bool taken = steering_.steer(headers, RuleKind::sniffer, last, steered_to_, owned);
  if (!taken && steering_.has_defaults() && !(roce && is_for_this_device())) {
    taken = steering_.steer(headers, RuleKind::multicast_default, RuleKind::all_default, steered_to_);
  }
  if (!steered_to_.empty()) give_whole(frame, origin, headers);
  return taken;
}

// The owner of the current packet; empty: no queue pair here takes the packet.
std::optional<PacketOwner> Device::owner() const {
  if (!is_for_this_device()) return {};
  if (!is_to_this_port()) return kSeveralContexts;
  const QueuePairContext* const queue_pair = queue_pairs_.find(parsed_.transport.bth.destination);
  return queue_pair != nullptr ? std::optional(queue_pair->owner()) : std::nullopt;
}

bool Device::is_for_this_device() const {
  if (is_to_this_port()) return true;
  return wire::is_multicast(parsed_.network.destination) &&
         !multicast_groups_.members(parsed_.network.destination).empty();
}

// The frame in one piece, with room for its check sequence behind it. Empty: there is no staging memory, and
// the frame counts as lost.
std::span<std::byte> Device::copy_whole(const wire::Frame& frame) {
  const std::size_t bytes = frame.size() + wire::kFrameCheckBytes;
  std::byte* const copy = round_.filling().arena->take(static_cast<std::uint32_t>(bytes));
  if (copy == nullptr) {
    ++port_counters_.buffer_overruns;
    return {};
  }
  wire::copy_whole(frame, copy);
  return {copy, bytes};
}

bool Device::has_sent(PacketOwner owner, const link::PacketOrigin& origin) const {
  if (origin.device != config_.mac) return false;
  const QueuePairContext* const sender = queue_pairs_.find(origin.queue_pair);
  return sender != nullptr && sender->owner() == owner;
}

// One copy of the frame's bytes serves all queue pairs; a contiguous frame needs none but for its check
// sequence.
void Device::give_whole(const wire::Frame& frame, const link::PacketOrigin& origin,
                        const FrameHeaders& headers) {
  const bool in_one_piece = frame.payload.empty() && frame.trailer.empty();
  std::span<std::byte> copy;
  if (!in_one_piece) {
    copy = copy_whole(frame);
    if (copy.empty()) return;
  }
  const std::span<const std::byte> bytes = in_one_piece ? frame.headers : copy.first(frame.size());
  bool has_check_sequence = false;
  std::optional<wire::FrameChecksums> right;
  const bool to_group = is_to_group(frame);
  for (const SteeringTarget& target : steered_to_) {
    if (target.counters != nullptr) {
      ++target.counters->packets;
      target.counters->bytes += frame.size();
    }
    if (target.drops()) continue;
    const std::uint32_t hash = target.queue_pair == nullptr ? target.rss_table->hash_of(headers) : 0;
    QueuePairContext& queue_pair =
        target.queue_pair != nullptr ? *target.queue_pair : target.rss_table->queue_for(hash);
    const bool is_own = to_group && origin.device == config_.mac && origin.queue_pair == queue_pair.qpn();
    if (is_own && queue_pair.blocks_own_multicast()) continue;
    const bool hides_own = to_group ? target.hides_own_groups : target.hides_own_unicast;
    if (hides_own && has_sent(queue_pair.owner(), origin)) continue;
    transport::InboundPacket packet{
        .headers = parsed_.transport, .payload = bytes, .facts = {headers.layers, hash}};
    if (queue_pair.tells_of_checksums()) {
      if (!right) right = wire::right_checksums(bytes);
      packet.facts.right = *right;
    }
    if (queue_pair.takes_check_sequences()) {
      if (copy.empty()) copy = copy_whole(frame);
      if (copy.empty()) continue;
      if (!has_check_sequence) {
        const auto sequence = wire::frame_check_sequence(bytes);
        std::copy(sequence.begin(), sequence.end(), copy.last<wire::kFrameCheckBytes>().begin());
      }
      has_check_sequence = true;
      packet.payload = copy;
    }
    queue_pair.receive_frame(packet);
  }
}

// A packet of another VLAN is not for the GID (as on a NIC, whose GID table has the VLAN of each).
bool Device::has(const wire::Gid& gid, std::uint16_t vlan) const {
  return std::any_of(config_.gids.begin(), config_.gids.end(),
                     [&](const LocalGid& own) { return own.gid == gid && own.vlan == vlan; });
}

// Every device is in the network without tags.
bool Device::is_in_vlan(std::uint16_t vlan) const {
  return vlan == 0 || std::any_of(config_.gids.begin(), config_.gids.end(),
                                  [&](const LocalGid& own) { return own.vlan == vlan; });
}

// For packets without a QP, or for a QP that is not connected with the sender. A connected QP's path ends at
// one of this device's GIDs, so only here the GIDs are searched.
void Device::arrive_beside_connections(const wire::Frame& frame, QueuePairContext* queue_pair) {
  count_group(frame);
  const wire::NetworkHeaders& network = parsed_.network;
  if (wire::is_multicast(network.destination)) return arrive_for_group(frame);
  const bool without_gids = network.local && !network.local->with_grh;
  const bool ours =
      is_to_this_port() && (without_gids || has(network.destination, wire::vlan_of(network.vlan_tag)));
  if (!ours || (queue_pair != nullptr && !queue_pair->takes_datagrams())) {
    ++port_counters_.wrong_address;
    return;
  }
  ManagementReceiver* const management = queue_pair == nullptr ? management_receiver() : nullptr;
  if (queue_pair == nullptr && management == nullptr) {
    ++port_counters_.unknown_qp;
    return;
  }
  transport::InboundPacket packet = inbound_packet(parsed_);
  if (!prepare_datagram(frame, packet)) return;
  if (management != nullptr) return management->receive(packet, network);
  queue_pair->receive_datagram(packet);
}

void Device::set_management_receiver(wire::Qpn qpn, ManagementReceiver* receiver) {
  management_.at(qpn.value) = receiver;
}

// For the current packet; null: it is not for a management QP, or there is no receiver.
ManagementReceiver* Device::management_receiver() const {
  const std::uint32_t qpn = parsed_.transport.bth.destination.value;
  const bool datagram = parsed_.transport.bth.opcode.service() == wire::Service::ud;
  return datagram && qpn < management_.size() ? management_[qpn] : nullptr;
}

// Gives one copy to each QP of the group (IBTA 10.5.2), also to the sender unless it blocks that: so do
// Linux's devices (docs/rules/unreliable.md). If no QP here is in the group, the packet is not for this
// device.
void Device::arrive_for_group(const wire::Frame& frame) {
  const wire::NetworkHeaders& network = parsed_.network;
  if (!is_group_address(network)) {
    ++port_counters_.wrong_address;
    return;
  }
  const auto members = multicast_groups_.members(network.destination);
  if (members.empty()) return;
  if (!is_in_vlan(wire::vlan_of(network.vlan_tag))) {
    ++port_counters_.wrong_address;
    return;
  }
  const bool datagram = parsed_.transport.bth.opcode.service() == wire::Service::ud;
  if (!datagram || parsed_.transport.bth.destination != wire::kMulticastQpn) {
    ++port_counters_.unknown_qp;
    return;
  }
  transport::InboundPacket packet = inbound_packet(parsed_);
  if (!prepare_datagram(frame, packet)) return;
  const bool from_here = network.local ? wire::has_lid(lids_.base, lids_.lmc, network.local->source)
                                       : network.source_mac == config_.mac;
  for (QueuePairContext* const member : members) {
    const bool is_own = from_here && member->qpn() == parsed_.transport.deth.source;
    if (!is_own || !member->blocks_own_multicast()) member->receive_datagram(packet);
  }
}

// Copies the GRH to where it stays; without one the 40 bytes are there all the same (IBTA 11.4.1.2), all zero
// here. IPv6's GRH is the packet's own header; IPv4's is the last 20 of the 40
// bytes (IBTA A17.4.5.2). False if there is no room: the packet counts as lost.
bool Device::prepare_datagram(const wire::Frame& frame, transport::InboundPacket& packet) {
  std::byte* const grh = round_.filling().arena->take(transport::kGrhBytes);
  if (grh == nullptr) {
    ++port_counters_.buffer_overruns;
    return false;
  }
  std::memset(grh, 0, transport::kGrhBytes);
  packet.grh = {grh, transport::kGrhBytes};
  if (const auto& local = parsed_.network.local) {
    packet.local_route = local_route_of(*local, lids_);
    if (local->with_grh) std::memcpy(grh, frame.headers.data() + kLocalRouteBytes, transport::kGrhBytes);
    return true;
  }
  const std::size_t header = wire::uses_ipv4(parsed_.network) ? wire::kIpv4Bytes : transport::kGrhBytes;
  const std::byte* const ip = frame.headers.data() + wire::ethernet_header_size(frame.headers.data());
  std::memcpy(grh + transport::kGrhBytes - header, ip, header);
  return true;
}

}  // namespace urnic::engine
