#include "device_model/control/fabric/device_sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "device_model/control/fabric/congestion_names.hpp"
#include "device_model/control/fabric/face_identity.hpp"
#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/fabric/node_keys.hpp"
#include "device_model/control/fabric/recovery_names.hpp"
#include "device_model/link/udp/local_interface.hpp"
#include "device_model/link/udp/udp_port.hpp"
#include "wire/ethernet.hpp"
#include "wire/network_headers.hpp"

namespace urnic::control {
namespace {

using settings::TableReader;

wire::Gid link_local_gid(const std::array<std::uint8_t, 8>& identifier) {
  wire::Gid gid;
  gid.bytes[0] = 0xFE;
  gid.bytes[1] = 0x80;
  std::copy(identifier.begin(), identifier.end(), gid.bytes.begin() + 8);
  return gid;
}

// 192.0.2.0/24 is for documentation (RFC 5737): no network of this machine uses these addresses.
wire::Gid ipv4_gid(std::size_t device) {
  wire::Gid gid;
  gid.bytes[10] = gid.bytes[11] = 0xFF;
  gid.bytes[12] = 192;
  gid.bytes[14] = 2;
  gid.bytes[15] = static_cast<std::uint8_t>(1 + device);
  return gid;
}

// Locally administered: "urn" and the device's number.
wire::MacAddress default_mac(std::size_t device) {
  return {{0x02, 0x75, 0x72, 0x6E, 0x00, static_cast<std::uint8_t>(device)}};
}

// Empty: nonsense.
std::optional<std::uint16_t> vlan_in(const toml::node& entry) {
  const toml::table* const table = entry.as_table();
  const auto vlan = table != nullptr && table->size() == 2 ? table->get_as<std::int64_t>("vlan") : nullptr;
  if (vlan == nullptr || vlan->get() < 1 || vlan->get() > wire::kLastVlan) return {};
  return static_cast<std::uint16_t>(vlan->get());
}

// "gids" of a device on the switch, "addresses" of one on a UDP wire. False: the key is not there. With
// `vlans`, an entry may be a table of a GID and its VLAN.
bool read_gids(const TableReader& reader, std::string_view key, std::string_view kind,
               std::optional<wire::Gid> (*parse)(const std::string&), std::vector<wire::Gid>& gids,
               std::map<std::size_t, std::uint16_t>* vlans = nullptr) {
  const toml::node* node = reader.table().get(key);
  if (node == nullptr) return false;
  const toml::array* list = node->as_array();
  if (list == nullptr || list->empty() || list->size() > limits::kGidTableLength) {
    reader.refuse(key, *node, fmt::format("a list of 1 to {} {}", limits::kGidTableLength, kind));
  }
  gids.clear();
  for (const toml::node& entry : *list) {
    const auto vlan = vlans != nullptr ? vlan_in(entry) : std::nullopt;
    const auto text =
        vlan ? (*entry.as_table())["gid"].value_exact<std::string>() : entry.value_exact<std::string>();
    const auto gid = text ? parse(*text) : std::nullopt;
    if (!gid || !wire::is_unicast(*gid)) {
      reader.refuse(key, entry, fmt::format("the unicast address of one device; {}", kind));
    }
    if (vlan) vlans->emplace(gids.size(), *vlan);
    gids.push_back(*gid);
  }
  return true;
}

// The whole numbers that every TOML and JSON reader supports, as for the links' seed.
constexpr std::int64_t kLargestSeed = (std::int64_t{1} << 53) - 1;

constexpr std::array<std::string_view, 15> kCommonKeys{"face",
                                                       "mtu",
                                                       "vendor_id",
                                                       "vendor_part_id",
                                                       "hardware_version",
                                                       "max_qp",
                                                       "connection_manager",
                                                       "raw_packets",
                                                       "number_seed",
                                                       "recovery",
                                                       "congestion",
                                                       "reordering_packets",
                                                       "irn_window_packets",
                                                       "irn_timeout_low_us",
                                                       "irn_timeout_high_us"};

void read_recovery(const TableReader& reader, transport::RecoverySettings& recovery) {
  if (const auto mode = reader.word("recovery", kRecoveryNames)) {
    recovery.mode = static_cast<transport::RecoveryMode>(*mode);
  }
  reader.integer("reordering_packets", 1, 1024, recovery.reordering);
  reader.integer("irn_window_packets", 1, 65536, recovery.irn_window);
  const auto timeout = [&](std::string_view key, transport::Nanoseconds& out) {
    const auto value = reader.number(key, 1, 1e7, "microseconds, from 1 to 10000000, such as 320");
    if (value) out = transport::Nanoseconds(std::llround(*value * 1000));
  };
  timeout("irn_timeout_low_us", recovery.irn_timeout_low);
  timeout("irn_timeout_high_us", recovery.irn_timeout_high);
}

// The devices' own section decides before that of all devices.
Face read_face(const TableReader& common, const TableReader& own) {
  const auto of_all = common.word("face", kFaceNames);
  return static_cast<Face>(own.word("face", kFaceNames).value_or(of_all.value_or(0)));
}

// What a device has that the configuration does not speak of.
DeviceSettings defaults_of(Face face) {
  const FaceIdentity& identity = identity_of(face);
  DeviceSettings device;
  device.face = face;
  device.vendor_id = identity.vendor_id;
  device.vendor_part_id = identity.vendor_part_id;
  return device;
}

void read_common(const TableReader& reader, DeviceSettings& device) {
  reader.integer("vendor_id", 0, 0xFFFFFF, device.vendor_id);
  reader.integer("vendor_part_id", 0, 0xFFFFFFFF, device.vendor_part_id);
  reader.integer("hardware_version", 0, 0xFFFFFFFF, device.hardware_version);
  reader.integer("max_qp", 16, limits::kMaxQp, device.max_qp);
  device.connection_manager = reader.flag("connection_manager").value_or(device.connection_manager);
  if (const auto raw_packets = reader.word("raw_packets", kRawPacketsNames))
    device.raw_packets = static_cast<RawPackets>(*raw_packets);
  if (const auto seed = reader.integer("number_seed", 0, kLargestSeed))
    device.number_seed = static_cast<std::uint64_t>(*seed);
  read_recovery(reader, device.recovery);
  if (const auto algorithm = reader.word("congestion", kCongestionNames)) {
    device.congestion.algorithm = static_cast<transport::CongestionAlgorithm>(*algorithm);
    device.congestion_chosen = true;
  }
  reader.integer("mtu", 0, 0xFFFFFFFF, device.mtu);
  if (device.mtu < 256 || device.mtu > 4096 || (device.mtu & (device.mtu - 1)) != 0) {
    reader.refuse("mtu", *reader.table().get("mtu"), "256, 512, 1024, 2048 or 4096");
  }
}

constexpr std::size_t kLongestName = 31;

// The name is also a folder in sysfs and part of perftest's options.
bool is_device_name(const std::string& name, std::string_view prefix) {
  return name.size() <= kLongestName && name.starts_with(prefix) &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
             std::string::npos;
}

constexpr std::string_view kGidKind =
    "IPv6 addresses, such as [\"fe80::1\", \"::ffff:192.0.2.1\"], or with a VLAN of 1 to 4094, such as "
    "[\"fe80::1\", {gid = \"::ffff:192.0.2.1\", vlan = 5}]";
constexpr std::string_view kAddressKind = "addresses of this host, such as [\"10.0.0.1\", \"fd00::1\"]";

// Both ends of a UDP wire are software: when processors are busy, round trips take milliseconds with no queue
// on the way, and silences of 10 ms mean nothing. What tells is the receiver's socket, which marks packets
// while it is half full (docs/congestion.md).
void use_software_defaults(DeviceSettings& device) {
  transport::CongestionSettings& settings = device.congestion;
  if (!device.congestion_chosen) settings.algorithm = transport::CongestionAlgorithm::rtt;
  settings.slow_restart = false;
  settings.burst = transport::Nanoseconds{100'000};
  settings.rtt.headroom = transport::Nanoseconds{50'000'000};
  settings.rtt.flow_scaling = transport::Nanoseconds{0};
  settings.rtt.additive = 4;
}

// A UDP wire: the device's GIDs are the host's addresses. Its MAC address, on no real wire, is unique among
// hosts, because peers know a host by the GUID that is made from it. A raw packet would leave the host, so it
// needs the right that a NIC asks for.
void read_udp_wire(const TableReader& reader, DeviceSettings& device) {
  if (const toml::node* gids = reader.table().get("gids"))
    reader.refuse("gids", *gids, "nothing: the GIDs of a device with wire = \"udp\" are its addresses");
  if (!read_gids(reader, "addresses", kAddressKind, parse_ip_address, device.gids))
    reader.fail(reader.table().source(), fmt::format("{} has wire = \"udp\" and no addresses: needed are {}",
                                                     device.name, kAddressKind));
  constexpr std::array<std::string_view, 2> kSegmentation{"none", "kernel"};
  device.udp_segmentation = reader.word("segmentation", kSegmentation).value_or(1) == 1;
  if (!reader.table().contains("mac")) device.mac = link::UdpPort::mac_of(device.gids.front());
  if (!reader.table().contains("raw_packets")) device.raw_packets = RawPackets::privileged;
  use_software_defaults(device);
}

// An InfiniBand port gets its addresses from its GUID and the subnet manager. For rdma_cm it has IP
// addresses, too, as if a network interface over InfiniBand had them.
void read_infiniband_port(const TableReader& reader, std::size_t number, DeviceSettings& device) {
  constexpr std::string_view rule = "nothing with link_layer = \"infiniband\"";
  for (const std::string_view key : {"wire", "gids", "segmentation"})
    if (const toml::node* const node = reader.table().get(key)) reader.refuse(key, *node, rule);
  if (device.face != Face::urnic)
    reader.refuse("link_layer", *reader.table().get("link_layer"), "\"ethernet\" with this face");
  if (const wire::mad::Guid guid = read_node_guid(reader); guid.value != 0) device.node_guid = guid;
  device.description = read_description(reader).value_or("");
  std::vector<wire::Gid> addresses{ipv4_gid(number)};
  read_gids(reader, "addresses", kAddressKind, parse_ip_address, addresses);
  device.gids = {link_local_gid(node_guid_of(device))};
  device.gids.insert(device.gids.end(), addresses.begin(), addresses.end());
}

void read_wire(const TableReader& reader, std::size_t number, DeviceSettings& device) {
  if (const auto kind = reader.word("wire", kWireNames)) device.wire_kind = static_cast<WireKind>(*kind);
  if (const auto layer = reader.word("link_layer", kLinkLayerNames))
    device.link_layer = static_cast<LinkLayer>(*layer);
  if (device.link_layer == LinkLayer::infiniband) return read_infiniband_port(reader, number, device);
  for (const std::string_view key : {"node_guid", "description"})
    if (const toml::node* const node = reader.table().get(key))
      reader.refuse(key, *node, "nothing without link_layer = \"infiniband\"");
  if (device.wire_kind == WireKind::udp) return read_udp_wire(reader, device);
  if (const toml::node* addresses = reader.table().get("addresses"))
    reader.refuse("addresses", *addresses, "nothing without wire = \"udp\"");
  if (const toml::node* segmentation = reader.table().get("segmentation"))
    reader.refuse("segmentation", *segmentation, "nothing without wire = \"udp\"");
  device.gids = {link_local_gid(modified_eui64(device.mac)), ipv4_gid(number)};
  read_gids(reader, "gids", kGidKind, parse_gid, device.gids, &device.vlans);
}

void read_name(const TableReader& reader, std::size_t number, DeviceSettings& device) {
  const FaceIdentity& identity = identity_of(device.face);
  const std::string rule = fmt::format(
      "\"{0}\" and up to {1} letters, digits, '_' or '-' more with face = \"{2}\", such as \"{3}0\"",
      identity.name_prefix, kLongestName - identity.name_prefix.size(), name(device.face),
      identity.default_name);
  device.name = reader.text("name", rule).value_or(fmt::format("{}{}", identity.default_name, number));
  if (!is_device_name(device.name, identity.name_prefix))
    reader.refuse("name", *reader.table().get("name"), rule);
}

// `common` is the section of all devices. `before`: those that were read already.
DeviceSettings read_device(const TableReader& reader, const TableReader& common,
                           const std::vector<DeviceSettings>& before) {
  const std::size_t number = before.size();
  std::vector<std::string_view> keys{"name",      "mac",          "gids",      "wire",       "link_layer",
                                     "addresses", "segmentation", "node_guid", "description"};
  keys.insert(keys.end(), kCommonKeys.begin(), kCommonKeys.end());
  reader.known_keys(keys);
  DeviceSettings device = defaults_of(read_face(common, reader));
  const auto alike = static_cast<std::size_t>(std::count_if(
      before.begin(), before.end(), [&](const DeviceSettings& other) { return other.face == device.face; }));
  if (identity_of(device.face).pci) device.pci = pci_address(alike);
  read_name(reader, alike, device);

  constexpr std::string_view mac_rule = "a unicast Ethernet address such as \"02:75:72:6e:00:00\"";
  device.mac = default_mac(number);
  if (const auto text = reader.text("mac", mac_rule)) {
    const auto mac = parse_mac(*text);
    if (!mac || (mac->bytes[0] & 1) != 0 || *mac == wire::MacAddress{}) {
      reader.refuse("mac", *reader.table().get("mac"), mac_rule);
    }
    device.mac = *mac;
  }
  read_common(common, device);
  read_common(reader, device);
  read_wire(reader, number, device);
  return device;
}

void check_unique(const TableReader& reader, const std::vector<DeviceSettings>& devices) {
  const DeviceSettings& last = devices.back();
  for (std::size_t i = 0; i + 1 < devices.size(); ++i) {
    const auto clash = [&](const std::string& what) {
      reader.fail(reader.table().source(), fmt::format("{} of {} is also of {}: each device needs its own",
                                                       what, last.name, devices[i].name));
    };
    if (devices[i].name == last.name) clash("the name");
    if (devices[i].mac == last.mac) clash(fmt::format("mac {}", to_text(last.mac)));
    for (const wire::Gid& gid : last.gids) {
      const auto& others = devices[i].gids;
      if (std::find(others.begin(), others.end(), gid) != others.end()) {
        clash(fmt::format("GID {}", to_text(gid)));
      }
    }
  }
}

}  // namespace

void read_devices(const TableReader& root, const std::string& file, Configuration& configuration,
                  const toml::array* sections) {
  const toml::table nothing;
  const toml::table* const of_all = root.section("device");
  const TableReader common(of_all != nullptr ? *of_all : nothing, file, "device.");
  common.known_keys(kCommonKeys);
  const toml::array* const list = sections != nullptr ? sections : root.sections("devices", kMaxDevices);
  if (list == nullptr) {
    for (std::size_t i = 0; i < 2; ++i) {
      configuration.devices.push_back(
          read_device(TableReader(nothing, file, ""), common, configuration.devices));
    }
    return;
  }
  for (const toml::node& entry : *list) {
    const TableReader reader(*entry.as_table(), file, "devices.");
    configuration.devices.push_back(read_device(reader, common, configuration.devices));
    check_unique(reader, configuration.devices);
  }
}

}  // namespace urnic::control
