// The device process's configuration, from its TOML file (docs/configuration.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "device_model/control/fabric/face.hpp"
#include "device_model/control/fabric/interfaces.hpp"
#include "device_model/control/fabric/lan_settings.hpp"
#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/fabric/link_layer.hpp"
#include "device_model/control/fabric/manager_choice.hpp"
#include "device_model/control/fabric/pci_address.hpp"
#include "device_model/control/fabric/private_memory.hpp"
#include "device_model/control/fabric/quotas.hpp"
#include "device_model/control/fabric/raw_packets.hpp"
#include "device_model/control/fabric/recovery_names.hpp"
#include "device_model/control/fabric/wire_kind.hpp"
#include "device_model/link/link_settings.hpp"
#include "device_model/link/shared_buffer.hpp"
#include "device_model/link/subnet_links/timed_subnet_settings.hpp"
#include "device_model/settings/setting_error.hpp"
#include "device_model/subnet/fabric_plan.hpp"
#include "device_model/transport/congestion_settings.hpp"
#include "device_model/transport/recovery_settings.hpp"
#include "device_model/transport/time.hpp"
#include "wire/identifiers.hpp"

namespace urnic::control {

struct DeviceSettings {
  std::string name;
  Face face = Face::urnic;
  std::optional<PciAddress> pci;  // of the PCI device that it is shown as a part of; empty: of none
  wire::MacAddress mac;
  WireKind wire_kind = WireKind::built_in;
  LinkLayer link_layer = LinkLayer::ethernet;
  // Of an InfiniBand device, as the fabric shows it (planned_devices.hpp).
  std::optional<wire::mad::Guid> node_guid;  // empty: made from the MAC address
  std::string description;                   // empty: the host's name and the device's
  std::uint8_t fabric_ports = 1;             // it uses the first
  std::uint32_t fabric_node = 0;             // its place in Configuration::fabric
  bool udp_segmentation = false;             // of a UDP wire (link/udp/send_queue.hpp)
  std::vector<wire::Gid> gids;               // by GID index; never empty; on a UDP wire the host's addresses
  // By GID index: the VLANs (1 to 4094) of those GIDs that belong to one.
  std::map<std::size_t, std::uint16_t> vlans;
  std::uint32_t mtu = 4096;     // largest path MTU, bytes: 256, 512, 1024, 2048 or 4096
  std::uint32_t vendor_id = 0;  // by default as the face has them (face_identity.hpp)
  std::uint32_t vendor_part_id = 0;
  std::uint32_t hardware_version = 0;
  std::uint32_t max_qp = limits::kMaxQp;  // queue pairs at a time (engine/queue_pair/qp_table.hpp)
  // Whether rdma_cm of this host's programs uses the device. If not, messages of connection management are
  // for the program that has registered for their class (umad), as on a Linux host without ib_cm.
  bool connection_manager = true;
  RawPackets raw_packets = RawPackets::all;
  std::optional<std::uint64_t> number_seed;                        // empty: random
  transport::RecoverySettings recovery{.mode = kDefaultRecovery};  // of its QPs by default
  transport::CongestionSettings congestion;                        // the same
  bool congestion_chosen = false;  // its algorithm; if not, the kind of wire decides
  link::LinkSettings transmit_link;
  link::LinkSettings receive_link;
};

// The congestion control of the device's QPs: their line is no faster than the device's link.
transport::CongestionSettings congestion_of(const DeviceSettings& device);

// Which options a device process was started with. A later command with the same ones joins it.
struct ConfigurationSource {
  std::vector<std::string> udp;  // the values of --udp
  Face face = Face::urnic;       // --face
  std::string file;              // of --config or --ibsim-net; empty: none
  bool ibsim_net = false;        // of --ibsim-net
  std::string text;              // what the file said
  bool network = false;          // --network, or as the file says
  bool outside = false;          // --outside, or as the file says
  bool interfaces = false;       // --interfaces, or as the file says
  bool infiniband = false;       // --infiniband
};

struct Configuration {
  ConfigurationSource source;
  std::vector<DeviceSettings> devices;
  transport::Nanoseconds idle_spin{50'000};
  std::optional<LanSettings> lan;
  link::SharedBufferSettings switch_buffer;  // of each engine's switch
  Interfaces interfaces = Interfaces::none;
  bool leads_outside = false;  // of own_network: to the networks of this host
  // Of the InfiniBand devices' fabric; `none` if there are no such devices.
  ManagerChoice subnet_manager = ManagerChoice::none;
  std::vector<std::string> opensm_options;  // words behind those of opensm_start
  subnet::FabricPlan fabric;                // without nodes if there are no such devices
  // Of packets inside that fabric; empty: they take no time there, and wait for nothing.
  std::optional<link::TimedSubnetSettings> credits;
  std::uint32_t engines = 1;  // threads among which the devices are divided
  wire::Icrc icrc = wire::Icrc::owed;
  bool maps_shared_memory = true;
  PrivateMemory private_memory = PrivateMemory::shared_when_it_pays;
  std::string log_level = "info";  // an spdlog level
  Allowances allowances = default_allowances();
  std::string fault_plan;  // a file; empty: none
};

// The whole of a file. Throws SettingError, which ends with `needed`.
std::string text_of_file(const std::string& file, const std::string& needed);

// One line: file, line, value and allowed values.
using ConfigurationError = settings::SettingError;

// Two devices on one switch: urnic0 and urnic1, or with the names that this face has by default.
Configuration default_configuration(Face face = Face::urnic);
// A device on a UDP wire for each text, which is one address of this host, or several with commas between.
// Throws ConfigurationError.
Configuration udp_configuration(const std::vector<std::string>& devices, Face face = Face::urnic);
// Two InfiniBand devices on one switch, and whatever subnet manager there is.
Configuration infiniband_configuration();
// The devices and the fabric of a file in ibsim's format, and whatever subnet manager there is. `file` is a
// path. Throws ConfigurationError.
Configuration ibsim_configuration(const std::string& file);
// `file` is a path. Throws ConfigurationError.
Configuration load_configuration(const std::string& file);
// `name` is the file's name in errors.
Configuration parse_configuration(const std::string& text, const std::string& name);

// The EUI-64 of a MAC address with the universal/local bit inverted (RFC 4291 appendix A), in wire order: a
// device's node GUID and the lower half of its link-local GID.
std::array<std::uint8_t, 8> modified_eui64(const wire::MacAddress& mac);
// In wire order.
std::array<std::uint8_t, 8> node_guid_of(const DeviceSettings& device);

// Parse the text forms "02:75:72:6e:00:00", "fe80::1" or "::ffff:192.0.2.1".
std::optional<wire::MacAddress> parse_mac(const std::string& text);
std::optional<wire::Gid> parse_gid(const std::string& text);
// An IPv4 or IPv6 address as a GID.
std::optional<wire::Gid> parse_ip_address(const std::string& text);
std::string to_text(const wire::MacAddress& mac);
std::string to_text(const wire::Gid& gid);

}  // namespace urnic::control
