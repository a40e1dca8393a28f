// One RDMA device: its addresses, its tables, its counters, its port.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device_model/engine/device/address_handle_table.hpp"
#include "device_model/engine/device/device_events.hpp"
#include "device_model/engine/device/multicast_groups.hpp"
#include "device_model/engine/queue_pair/qp_table.hpp"
#include "device_model/engine/shared_receive/shared_receive_table.hpp"
#include "device_model/engine/steering/steering_table.hpp"
#include "device_model/link/port.hpp"
#include "device_model/link/switch.hpp"
#include "device_model/memory/memory_table.hpp"
#include "device_model/transport/counters.hpp"
#include "wire/frame.hpp"
#include "wire/identifiers.hpp"

namespace urnic::engine {

class DataPath;
class Engine;

struct DeviceConfig {
  std::string name;  // urnic0
  wire::MacAddress mac;
  std::vector<wire::Gid> gids;
  std::uint32_t max_qp = 65536;
  std::uint32_t max_memory_keys = 1u << 20;
  std::uint32_t max_address_handles = 1u << 15;
  std::uint32_t max_srq = 65536;
  std::uint32_t number = 0;    // in configuration order
  memory::NumberSeed numbers;  // where its QPNs, keys and SRQ numbers begin
};

// What the port counts; docs/counters.md has the definition of each.
struct PortCounters {
  std::uint64_t transmitted_packets = 0;    // port_xmit_packets
  std::uint64_t transmitted_multicast = 0;  // multicast_xmit_packets: of those, to a group address
  std::uint64_t transmitted_bytes = 0;      // port_xmit_data is this / 4
  std::uint64_t received_packets = 0;
  std::uint64_t received_multicast = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t receive_errors = 0;   // port_rcv_errors: RoCE packets that do not parse, by ICRC or otherwise
  std::uint64_t icrc_errors = 0;      // rx_icrc_encapsulated
  std::uint64_t not_roce = 0;         // rx_not_roce: frames of other kinds that no steering rule takes
  std::uint64_t wrong_address = 0;    // rx_wrong_address: neither MAC nor GID, or not those of the QP's path
  std::uint64_t wrong_origin = 0;     // rx_wrong_origin: for a connected QP, and not sent by its peer
  std::uint64_t unknown_qp = 0;       // rx_unknown_qp
  std::uint64_t link_downed = 0;      // link_downed: how often the link was cut
  std::uint64_t buffer_overruns = 0;  // excessive_buffer_overrun_errors: no room for a payload
};

class Device final : private link::FrameReceiver {
 public:
  // Attaches itself to `fabric`; both `engine` and `fabric` outlive it, and no frame moves once it is gone.
  Device(const DeviceConfig& config, Engine& engine, link::Switch& fabric);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const DeviceConfig& config() const { return config_; }
  bool link_up(transport::Time now) const { return port_.up(now); }

  // Engine thread only, from here on.
  memory::MemoryTable& memory_table() { return memory_table_; }
  AddressHandleTable& address_handles() { return address_handles_; }
  MulticastGroups& multicast_groups() { return multicast_groups_; }
  DeviceEvents& events() { return events_; }
  // Its addresses from now on, beside those that are connections' already; zeros are none. Raises gid_change.
  void set_gids(const std::vector<wire::Gid>& gids);
  // A rule's number is for `remove_steering_rule`. Allocates.
  std::uint32_t add_steering_rule(const SteeringRule& rule);
  void remove_steering_rule(std::uint32_t number) { steering_.remove({&number, 1}); }
  // Of numbers in order.
  void remove_steering_rules(std::span<const std::uint32_t> numbers) { steering_.remove(numbers); }
  const transport::Counters& counters() const { return counters_; }
  const PortCounters& port_counters() const { return port_counters_; }

  // For queue pairs.
  DataPath& data_path() { return data_path_; }
  transport::Counters& transport_counters() { return counters_; }
  QpTable& queue_pairs() { return queue_pairs_; }
  const QpTable& queue_pairs() const { return queue_pairs_; }
  SharedReceiveTable& shared_receive_queues() { return shared_receive_queues_; }
  void transmit(const wire::Frame& frame, const link::PacketOrigin& origin);
  // Bytes that the port takes without falling behind, less those promised to QPs in this `round`; at least
  // `least` if the line is idle.
  std::size_t port_room(std::uint64_t round, std::size_t least) const;
  void promise_port(std::uint64_t round, std::size_t bytes);
  transport::Time port_room_at(std::size_t least) const { return port_.room_at(least); }
  // A frame that came once already, to a QP that held it.
  [[gnu::cold]] void arrive_again(const wire::Frame& frame, const link::PacketOrigin& origin);
  // For links.
  link::FrameReceiver& receiver() { return *this; }

 private:
  void arrive(const wire::Frame& frame, const link::PacketOrigin& origin) override;
  void link_changed(bool up) override;
  std::uint32_t ordinal_of(wire::Qpn qpn) const override;
  void count_error(wire::ParseError error);
  bool steer(const wire::Frame& frame, wire::ParseError parsed);
  std::optional<PacketOwner> owner() const;
  bool is_for_this_device() const;
  void give_whole(const wire::Frame& frame, const FrameHeaders& headers);
  void arrive_beside_connections(const wire::Frame& frame, QueuePairContext* queue_pair);
  void arrive_for_group(const wire::Frame& frame);
  bool prepare_datagram(const wire::Frame& frame, transport::InboundPacket& packet);
  transport::InboundPacket parsed_packet() const;

  DeviceConfig config_;
  DataPath& data_path_;
  DeviceEvents events_;
  memory::MemoryTable memory_table_;
  AddressHandleTable address_handles_;
  MulticastGroups multicast_groups_;
  SteeringTable steering_;
  std::vector<SteeringTarget> steered_to_;  // of the frame at hand
  QpTable queue_pairs_;
  SharedReceiveTable shared_receive_queues_;
  transport::Counters counters_;
  PortCounters port_counters_;
  wire::ParsedFrame parsed_;
  link::Port& port_;
  std::uint64_t promised_in_ = 0;
  std::size_t promised_ = 0;
};

}  // namespace urnic::engine
