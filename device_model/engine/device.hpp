// One RDMA device: its addresses, tables, counters and port; hands arriving frames to their queue pairs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "device_model/engine/device/address_handle_table.hpp"
#include "device_model/engine/device/device_config.hpp"
#include "device_model/engine/device/device_events.hpp"
#include "device_model/engine/device/device_resources.hpp"
#include "device_model/engine/device/key_violation.hpp"
#include "device_model/engine/device/management_receiver.hpp"
#include "device_model/engine/device/multicast_groups.hpp"
#include "device_model/engine/device/notified_peers.hpp"
#include "device_model/engine/device/port_counters.hpp"
#include "device_model/engine/device/port_egress.hpp"
#include "device_model/engine/queue_pair/qp_table.hpp"
#include "device_model/engine/receives/shared_receive_table.hpp"
#include "device_model/engine/steering/steering_table.hpp"
#include "device_model/link/uplink.hpp"
#include "device_model/memory/memory_table.hpp"
#include "device_model/transport/counters.hpp"
#include "wire/frame.hpp"
#include "wire/identifiers.hpp"

namespace urnic::engine {

class QueuePairContext;
class Round;

class Device final : private link::FrameReceiver, private Ingress {
 public:
  // Attaches itself to `uplink`. `round` and `uplink` outlive it; no frame moves after its destruction.
  Device(const DeviceConfig& config, Round& round, link::Uplink& uplink);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const DeviceConfig& config() const { return config_; }
  bool link_up(transport::Time now) const { return egress_.up(now); }
  // For its queue pairs and shared receive queues.
  const DeviceResources& resources() const { return resources_; }

  // Engine thread only, from here on.
  memory::MemoryTable& memory_table() { return memory_table_; }
  AddressHandleTable& address_handles() { return address_handles_; }
  MulticastGroups& multicast_groups() { return multicast_groups_; }
  DeviceEvents& events() { return events_; }
  // Sets its addresses, except in existing connections; zeros are empty entries. Raises gid_change.
  void set_gids(const std::vector<LocalGid>& gids);
  // Sets the LIDs of an InfiniBand port. The paths of queue pairs and address handles begin at the new ones.
  void set_lids(const LocalLids& lids);
  // The port's P_Key table has changed: each queue pair has the P_Key of its index.
  void set_pkeys(std::span<const std::uint16_t> pkeys);
  // The last packet that was dropped for its P_Key or Q_Key.
  const KeyViolation& last_violation() const { return last_violation_; }
  // The reference stays valid as long as the device.
  const LocalLids& lids() const { return lids_; }
  // Returns the rule's number, for `remove_steering_rule`. Allocates.
  std::uint32_t add_steering_rule(const SteeringRule& rule);
  void remove_steering_rule(std::uint32_t number) { steering_.remove({&number, 1}); }
  // `numbers` are in ascending order.
  void remove_steering_rules(std::span<const std::uint32_t> numbers) { steering_.remove(numbers); }
  const transport::Counters& counters() const { return counters_; }
  const PortCounters& port_counters() const { return port_counters_; }

  QpTable& queue_pairs() { return queue_pairs_; }
  const QpTable& queue_pairs() const { return queue_pairs_; }
  SharedReceiveTable& shared_receive_queues() { return shared_receive_queues_; }

  // Where frames for it arrive.
  link::FrameReceiver& receiver() { return *this; }
  // From now on frames that are not RoCE go to `host`, which outlives its use; it finds those for others,
  // too.
  void set_host(link::FrameReceiver& host) { host_ = &host; }
  // The way of what its host sends.
  link::Port& host_port() { return egress_; }
  // Gives datagrams to QPN 0 or 1 to `receiver`, which outlives its use; null: drops them.
  void set_management_receiver(wire::Qpn qpn, ManagementReceiver* receiver);

 private:
  void arrive(const wire::Frame& frame, const link::PacketOrigin& origin) override;
  void arrive_again(const wire::Frame& frame, const link::PacketOrigin& origin) override;
  void arrive_damaged(const wire::Frame& frame) override;
  void link_changed(bool up) override;
  bool takes_owed_icrc() const override { return true; }
  std::uint32_t ordinal_of(wire::Qpn qpn) const override;
  std::optional<link::Connection> connection_of(wire::Qpn qpn) const override;
  void hand_on(const wire::Frame& frame, const link::PacketOrigin& origin, wire::ParseError error);
  void count_group(const wire::Frame& frame);
  [[gnu::cold]] void note_violation();
  void refuse(const wire::Frame& frame, const link::PacketOrigin& origin, wire::ParseError error);
  bool steer(const wire::Frame& frame, const link::PacketOrigin& origin, wire::ParseError parsed);
  std::optional<PacketOwner> owner() const;
  bool is_for_this_device() const;
  bool is_to_this_port() const {
    const wire::NetworkHeaders& network = parsed_.network;
    if (network.local) [[unlikely]]
      return wire::has_lid(lids_.base, lids_.lmc, network.local->destination);
    return network.destination_mac == config_.mac;
  }
  std::span<std::byte> copy_whole(const wire::Frame& frame);
  bool has_sent(PacketOwner owner, const link::PacketOrigin& origin) const;
  void give_whole(const wire::Frame& frame, const link::PacketOrigin& origin, const FrameHeaders& headers);
  void arrive_beside_connections(const wire::Frame& frame, QueuePairContext* queue_pair);
  bool has(const wire::Gid& gid, std::uint16_t vlan) const;
  bool is_in_vlan(std::uint16_t vlan) const;
  void arrive_for_group(const wire::Frame& frame);
  ManagementReceiver* management_receiver() const;
  bool prepare_datagram(const wire::Frame& frame, transport::InboundPacket& packet);

  DeviceConfig config_;
  LocalLids lids_;
  Round& round_;
  DeviceEvents events_;
  memory::MemoryTable memory_table_;
  AddressHandleTable address_handles_;
  MulticastGroups multicast_groups_;
  NotifiedPeers notified_peers_;
  SteeringTable steering_;
  std::vector<SteeringTarget> steered_to_;  // of the current frame
  QpTable queue_pairs_;
  SharedReceiveTable shared_receive_queues_;
  transport::Counters counters_;
  PortCounters port_counters_;
  std::uint64_t pkey_violations_seen_ = 0;
  std::uint64_t qkey_violations_seen_ = 0;
  KeyViolation last_violation_;
  wire::ParsedFrame parsed_;
  std::array<ManagementReceiver*, 2> management_{};  // by QPN
  PortEgress egress_;
  link::FrameReceiver* host_ = nullptr;
  const DeviceResources resources_;
};

}  // namespace urnic::engine
