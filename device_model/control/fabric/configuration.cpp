#include "device_model/control/fabric/configuration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "device_model/control/fabric/congestion_keys.hpp"
#include "device_model/control/fabric/congestion_names.hpp"
#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/fabric/link_keys.hpp"
#include "device_model/control/fabric/recovery_names.hpp"
#include "device_model/link/udp/local_interface.hpp"
#include "device_model/link/udp/udp_port.hpp"
#include "device_model/settings/table_reader.hpp"
#include "wire/ethernet.hpp"
#include "wire/network_headers.hpp"

namespace urnic::control {
namespace {

using settings::TableReader;

wire::Gid link_local_gid(const wire::MacAddress& mac) {
  wire::Gid gid;
  gid.bytes[0] = 0xFE;
  gid.bytes[1] = 0x80;
  const auto identifier = modified_eui64(mac);
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

// 192.0.2.1 to 192.0.2.254
constexpr std::size_t kMaxDevices = 254;
// Each engine has a trunk to each other engine.
constexpr std::uint32_t kMaxEngines = 16;
constexpr std::int64_t kMostBufferBytes = 1'000'000'000'000;

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

constexpr std::array<std::string_view, 14> kCommonKeys{"mtu",
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

bool is_device_name(const std::string& name) {
  // libibverbs finds the plugin by the pattern "*urnic*"; the name is also a folder in sysfs and part of
  // perftest's options.
  return name.size() <= 31 && name.starts_with("urnic") &&
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

void read_wire(const TableReader& reader, std::size_t number, DeviceSettings& device) {
  if (const auto kind = reader.word("wire", kWireNames)) device.wire_kind = static_cast<WireKind>(*kind);
  if (device.wire_kind == WireKind::udp) return read_udp_wire(reader, device);
  if (const toml::node* addresses = reader.table().get("addresses"))
    reader.refuse("addresses", *addresses, "nothing without wire = \"udp\"");
  if (const toml::node* segmentation = reader.table().get("segmentation"))
    reader.refuse("segmentation", *segmentation, "nothing without wire = \"udp\"");
  device.gids = {link_local_gid(device.mac), ipv4_gid(number)};
  read_gids(reader, "gids", kGidKind, parse_gid, device.gids, &device.vlans);
}

DeviceSettings read_device(const TableReader& reader, std::size_t number, const DeviceSettings& defaults) {
  std::vector<std::string_view> keys{"name", "mac", "gids", "wire", "addresses", "segmentation"};
  keys.insert(keys.end(), kCommonKeys.begin(), kCommonKeys.end());
  reader.known_keys(keys);
  DeviceSettings device = defaults;
  constexpr std::string_view name_rule =
      "\"urnic\" and up to 26 letters, digits, '_' or '-' more, such as \"urnic0\"";
  device.name = reader.text("name", name_rule).value_or(fmt::format("urnic{}", number));
  if (!is_device_name(device.name)) reader.refuse("name", *reader.table().get("name"), name_rule);

  constexpr std::string_view mac_rule = "a unicast Ethernet address such as \"02:75:72:6e:00:00\"";
  device.mac = default_mac(number);
  if (const auto text = reader.text("mac", mac_rule)) {
    const auto mac = parse_mac(*text);
    if (!mac || (mac->bytes[0] & 1) != 0 || *mac == wire::MacAddress{}) {
      reader.refuse("mac", *reader.table().get("mac"), mac_rule);
    }
    device.mac = *mac;
  }
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

void read_devices(const TableReader& root, const std::string& file, Configuration& configuration) {
  DeviceSettings defaults;
  if (const toml::table* table = root.section("device")) {
    const TableReader reader(*table, file, "device.");
    reader.known_keys(kCommonKeys);
    read_common(reader, defaults);
  }
  const toml::table nothing;
  const toml::array* list = root.sections("devices", kMaxDevices);
  if (list == nullptr) {
    for (std::size_t i = 0; i < 2; ++i) {
      configuration.devices.push_back(read_device(TableReader(nothing, file, ""), i, defaults));
    }
    return;
  }
  for (const toml::node& entry : *list) {
    const TableReader reader(*entry.as_table(), file, "devices.");
    configuration.devices.push_back(read_device(reader, configuration.devices.size(), defaults));
    check_unique(reader, configuration.devices);
  }
}

constexpr std::array<std::string_view, 3> kDirectionNames{"tx", "rx", "both"};
constexpr std::size_t kMaxLinkSections = 1024;

// The section may not have the key of which the error tells: an earlier one set it.
void check_together(const TableReader& reader, const link::LinkSettings& settings) {
  const auto wrong = contradiction(settings);
  if (!wrong) return;
  const toml::node* const node = reader.table().get(wrong->key);
  if (node != nullptr) reader.refuse(wrong->key, *node, wrong->allowed);
  reader.fail(reader.table().source(), fmt::format("link.{} = {}: allowed is {}", wrong->key,
                                                   find_link_key(wrong->key)->get(settings), wrong->allowed));
}

// Empty: the section does not have it.
template <class Settings>
std::optional<double> read_value(const TableReader& reader, const SettingKey<Settings>& key) {
  if (key.flag) {
    const auto flag = reader.flag(key.name);
    return flag ? std::optional(*flag ? 1.0 : 0.0) : std::nullopt;
  }
  const auto value = reader.number(key.name, key.lowest, key.highest, key.allowed);
  if (value && !key.accepts(*value)) reader.refuse(key.name, *reader.table().get(key.name), key.allowed);
  return value;
}

void read_link_values(const TableReader& reader, link::LinkSettings& settings) {
  for (const LinkKey& key : link_keys())
    if (const auto value = read_value(reader, key)) key.set(settings, *value);
  check_together(reader, settings);
}

// Later sections override earlier ones for the same link, key by key.
void read_link(const TableReader& reader, std::vector<DeviceSettings>& devices) {
  std::vector<std::string_view> keys{"device", "direction", "recovery"};
  for (const LinkKey& key : link_keys()) keys.push_back(key.name);
  reader.known_keys(keys);
  std::vector<std::string_view> names{"all"};
  for (const DeviceSettings& device : devices) names.push_back(device.name);
  const std::size_t chosen = reader.word("device", names).value_or(0);
  const std::size_t direction = reader.word("direction", kDirectionNames).value_or(2);
  const auto recovery = reader.word("recovery", kRecoveryNames);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (chosen != 0 && chosen != i + 1) continue;
    if (direction != 1) read_link_values(reader, devices[i].transmit_link);
    if (direction != 0) read_link_values(reader, devices[i].receive_link);
    if (recovery) devices[i].recovery.mode = static_cast<transport::RecoveryMode>(*recovery);
  }
}

void read_links(const TableReader& root, const std::string& file, Configuration& configuration) {
  const toml::array* list = root.sections("link", kMaxLinkSections);
  if (list == nullptr) return;
  for (const toml::node& entry : *list) {
    read_link(TableReader(*entry.as_table(), file, "link."), configuration.devices);
  }
}

void read_logging(const TableReader& root, const std::string& file, Configuration& configuration) {
  const toml::table* table = root.section("logging");
  if (table == nullptr) return;
  const TableReader reader(*table, file, "logging.");
  reader.known_keys({"level"});
  constexpr std::array<std::string_view, 6> levels{"trace", "debug", "info", "warning", "error", "off"};
  if (const auto level = reader.word("level", levels)) configuration.log_level = levels[*level];
}

// The algorithms' settings, for all devices.
void read_congestion(const TableReader& root, const std::string& file, Configuration& configuration) {
  const toml::table* table = root.section("congestion");
  if (table == nullptr) return;
  const TableReader reader(*table, file, "congestion.");
  std::vector<std::string_view> names;
  for (const CongestionKey& key : congestion_keys()) names.push_back(key.name);
  reader.known_keys(names);
  for (const CongestionKey& key : congestion_keys()) {
    const auto value = read_value(reader, key);
    if (!value) continue;
    for (DeviceSettings& device : configuration.devices) key.set(device.congestion, *value);
  }
}

constexpr std::array<std::string_view, 2> kIcrcNames{"when_seen", "always"};
constexpr std::array<std::string_view, 2> kSharedMemoryNames{"mapped", "copied"};
constexpr std::array<std::string_view, 3> kPrivateMemoryNames{"when_it_pays", "shared", "copied"};

void read_engine(const TableReader& root, const std::string& file, Configuration& configuration) {
  const toml::table* table = root.section("engine");
  if (table == nullptr) return;
  const TableReader reader(*table, file, "engine.");
  reader.known_keys({"engines", "icrc", "idle_spin_us", "private_memory", "shared_memory"});
  reader.integer("engines", 1, kMaxEngines, configuration.engines);
  if (const auto icrc = reader.word("icrc", kIcrcNames))
    configuration.icrc = *icrc == 0 ? wire::Icrc::owed : wire::Icrc::made;
  if (const auto way = reader.word("shared_memory", kSharedMemoryNames))
    configuration.maps_shared_memory = *way == 0;
  if (const auto way = reader.word("private_memory", kPrivateMemoryNames))
    configuration.private_memory = static_cast<PrivateMemory>(*way);
  auto microseconds = static_cast<std::uint32_t>(configuration.idle_spin.count() / 1000);
  reader.integer("idle_spin_us", 0, 1'000'000, microseconds);
  configuration.idle_spin = std::chrono::microseconds(microseconds);
}

void read_switch(const TableReader& root, const std::string& file, Configuration& configuration) {
  const toml::table* table = root.section("switch");
  if (table == nullptr) return;
  const TableReader reader(*table, file, "switch.");
  reader.known_keys({"buffer_bytes", "buffer_alpha"});
  link::SharedBufferSettings& buffer = configuration.switch_buffer;
  if (const auto bytes = reader.integer("buffer_bytes", 0, kMostBufferBytes))
    buffer.bytes = static_cast<std::uint64_t>(*bytes);
  const auto alpha = reader.number("buffer_alpha", 0.001, 1000, "a factor from 0.001 to 1000, such as 0.5");
  if (alpha) buffer.alpha = *alpha;
  if (alpha && buffer.bytes == 0)
    reader.refuse("buffer_alpha", *table->get("buffer_alpha"),
                  "nothing without buffer_bytes, of which it says a queue's part");
}

// Devices have no larger MTU than the LAN.
void read_lan(const TableReader& root, const std::string& file, Configuration& configuration) {
  const toml::table* table = root.section("lan");
  if (table == nullptr) return;
  LanSettings& lan = configuration.lan.emplace(read_lan_settings(TableReader(*table, file, "lan.")));
  for (DeviceSettings& device : configuration.devices) {
    if (device.wire_kind != WireKind::built_in) continue;
    lan.carrier.devices.push_back(device.mac);
    if (lan.mtu != 0) device.mtu = std::min(device.mtu, link::path_mtu_for(lan.mtu));
  }
}

void read_interfaces(const TableReader& root, Configuration& configuration) {
  const bool network = root.flag("network").value_or(false);
  const bool interfaces = root.flag("interfaces").value_or(false);
  if (network && interfaces)
    root.refuse("interfaces", *root.table().get("interfaces"),
                "not true beside network = true: the interfaces are in one network namespace");
  if (network) configuration.interfaces = Interfaces::own_network;
  if (interfaces) configuration.interfaces = Interfaces::host;
  configuration.leads_outside = root.flag("outside").value_or(false);
  if (configuration.leads_outside && !network)
    root.refuse("outside", *root.table().get("outside"),
                "not true without network = true: only a network of the programs' own needs a way outside");
}

constexpr std::uint64_t kMebibyte = 1 << 20;

// "memory_mib" and "memory_mib_per_program", "shared_memory_mib", and so for every resource.
void read_limits(const TableReader& root, const std::string& file, Configuration& configuration) {
  const toml::table* table = root.section("limits");
  if (table == nullptr) return;
  const TableReader reader(*table, file, "limits.");
  std::vector<std::string> names;
  for (const std::string_view name : kResourceNames) {
    names.emplace_back(name);
    if (is_in_bytes(static_cast<Resource>(names.size() / 2))) names.back() += "_mib";
    names.push_back(names.back() + "_per_program");
  }
  reader.known_keys(std::vector<std::string_view>(names.begin(), names.end()));
  for (std::size_t i = 0; i < kResources; ++i) {
    Allowance& allowance = configuration.allowances[i];
    const std::uint64_t unit = is_in_bytes(static_cast<Resource>(i)) ? kMebibyte : 1;
    if (const auto all = reader.integer(names[2 * i], 1, 1u << 30)) {
      allowance.all = static_cast<std::uint64_t>(*all) * unit;
      allowance.program = allowance.all / 2;
    }
    if (const auto program = reader.integer(names[2 * i + 1], 1, 1u << 30)) {
      allowance.program = static_cast<std::uint64_t>(*program) * unit;
    }
  }
}

}  // namespace

transport::CongestionSettings congestion_of(const DeviceSettings& device) {
  transport::CongestionSettings settings = device.congestion;
  const double rate = device.transmit_link.rate_gbps;
  if (rate > 0) settings.line = std::min(settings.line, transport::SendRate::gbps(rate));
  return settings;
}

Configuration default_configuration() { return parse_configuration("", "defaults"); }

Configuration udp_configuration(const std::vector<std::string>& devices) {
  std::string text;
  for (const std::string& device : devices) {
    text += "[[devices]]\nwire = \"udp\"\naddresses = [\"";
    for (const char letter : device) text += letter == ',' ? "\", \"" : std::string(1, letter);
    text += "\"]\n";
  }
  Configuration configuration = parse_configuration(text, "--udp");
  configuration.source.udp = devices;
  return configuration;
}

Configuration load_configuration(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) {
    throw ConfigurationError(fmt::format("{}: cannot be read; --config needs a TOML file that exists", file));
  }
  Configuration configuration = parse_configuration(text.str(), file);
  configuration.source = {.udp = {}, .file = file, .text = text.str()};
  // Relative to the configuration file.
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  if (!configuration.fault_plan.empty())
    configuration.fault_plan = (folder / configuration.fault_plan).string();
  if (configuration.lan) make_paths_absolute(*configuration.lan, folder.string());
  return configuration;
}

Configuration parse_configuration(const std::string& text, const std::string& name) {
  const toml::table parsed = settings::parse(text, name);
  Configuration configuration;
  const TableReader root(parsed, name, "");
  root.known_keys({"congestion", "device", "devices", "engine", "faults", "interfaces", "lan", "limits",
                   "link", "logging", "network", "outside", "switch"});
  read_devices(root, name, configuration);
  read_engine(root, name, configuration);
  read_congestion(root, name, configuration);
  read_lan(root, name, configuration);
  read_switch(root, name, configuration);
  read_interfaces(root, configuration);
  read_limits(root, name, configuration);
  read_logging(root, name, configuration);
  read_links(root, name, configuration);
  configuration.fault_plan =
      root.text("faults", "the path of a fault plan, such as \"plan.toml\" (docs/faults.md)").value_or("");
  return configuration;
}

}  // namespace urnic::control
