// A device, with the control thread's data about it.
#pragma once

#include <sys/types.h>

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "device_model/control/fabric/capacity.hpp"
#include "device_model/control/fabric/configuration.hpp"
#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/fabric/multicast_members.hpp"
#include "device_model/link/udp/local_interface.hpp"

namespace urnic::link {
class HostInterface;
}

namespace urnic::engine {
class Device;
class ManagementQueuePair;
}  // namespace urnic::engine

namespace urnic::control {

struct UdpWire;
class XrcDomain;

// Identifies a file under any name.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;
};

// What the control thread counts of a device's management datagrams (docs/counters.md).
struct GsiCounters {
  std::uint64_t unclaimed = 0;    // rx_mads_unclaimed: nobody takes them, and they want no answer
  std::uint64_t unsupported = 0;  // rx_mads_unsupported: Get and Set that nobody takes: answered so
  std::uint64_t not_sent = 0;     // tx_mad_discards: too many waited for the port
};

struct ServedDevice {
  ServedDevice(std::uint32_t number, const DeviceSettings& with);
  ~ServedDevice();

  const std::uint32_t index;  // in configuration order
  DeviceSettings settings;
  const std::array<std::uint8_t, 8> node_guid;    // wire order
  const std::uint32_t largest_mtu;                // path MTU that the configuration allows, bytes
  std::unique_ptr<UdpWire> udp;                   // null: on the built-in switch
  link::HostInterface* host_interface = nullptr;  // its own interface's end, of its engine; null: it has none
  std::optional<link::LocalInterface> interface;  // its own; in the programs' network namespace
  // By GID index: the interfaces of VLANs on its own one, for the addresses that are theirs.
  std::map<std::size_t, link::LocalInterface> vlan_interfaces;
  std::unique_ptr<engine::Device> device;
  std::unique_ptr<engine::ManagementQueuePair> management;  // its queue pair 1
  // Its place in the built-in InfiniBand fabric; empty: an Ethernet device.
  std::optional<std::uint32_t> adapter;
  GsiCounters gsi;

  // Counted over all contexts.
  Capacity queue_pairs;
  Capacity completion_queues{limits::kMaxCq};
  Capacity shared_receive_queues{limits::kMaxSrq};
  Capacity memory_regions{limits::kMaxMr};
  Capacity memory_windows{limits::kMaxMw};
  Capacity protection_domains{limits::kMaxPd};
  Capacity address_handles{limits::kMaxAh};
  Capacity flows{limits::kMaxFlows};
  Capacity flow_counters{limits::kMaxFlowCounters};
  MulticastMembers multicast;
  Capacity device_memory{limits::kMaxDeviceMemory};  // bytes
  Capacity xrc_domains{limits::kMaxXrcd};            // a domain counts for each context that opened it
  std::uint32_t next_pd = 1;
  std::uint32_t next_cq = 1;
  // Shared domains, while any context has them open.
  std::map<FileIdentity, std::weak_ptr<XrcDomain>> xrc_domains_by_file;
};

// The network interface that belongs to the device's GID at this place, its own one or a VLAN's on it; null:
// there is none, and the addresses are nobody's in the programs' network namespace.
const link::LocalInterface* interface_of(const ServedDevice& device, std::size_t gid_index);

// The VLAN of the device's GID at this place, or of this GID; 0: none.
std::uint16_t vlan_of(const ServedDevice& device, std::size_t gid_index);
std::uint16_t vlan_of(const ServedDevice& device, const wire::Gid& gid);

// Puts a GID into the first empty place of a table and returns its index; empty: all places are taken.
std::optional<std::size_t> add_gid(std::vector<wire::Gid>& gids, const wire::Gid& gid);

// The GID at a place of the device's table. 0, or as Linux's rdma_get_gid_attr: EINVAL beyond the table,
// ENODATA for an empty place.
int find_gid(const ServedDevice& device, std::uint32_t index, wire::Gid& gid);

}  // namespace urnic::control
