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
#include "device_model/control/fabric/device_sections.hpp"
#include "device_model/control/fabric/fabric_section.hpp"
#include "device_model/control/fabric/link_keys.hpp"
#include "device_model/control/fabric/net_file.hpp"
#include "device_model/control/fabric/planned_devices.hpp"
#include "device_model/control/fabric/recovery_names.hpp"
#include "device_model/link/udp/local_interface.hpp"
#include "device_model/settings/table_reader.hpp"

namespace urnic::control {
namespace {

using settings::TableReader;

// Each engine has a trunk to each other engine.
constexpr std::uint32_t kMaxEngines = 16;
constexpr std::int64_t kMostBufferBytes = 1'000'000'000'000;

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

// RoCE devices need no manager.
void read_subnet_manager(const TableReader& root, Configuration& configuration) {
  const auto choice = root.word("subnet_manager", kManagerNames);
  if (!choice) return;
  configuration.subnet_manager = static_cast<ManagerChoice>(*choice);
  const bool is_needed =
      std::any_of(configuration.devices.begin(), configuration.devices.end(), is_infiniband);
  if (!is_needed && configuration.subnet_manager != ManagerChoice::none)
    root.refuse("subnet_manager", *root.table().get("subnet_manager"),
                "only \"none\" without a device that has link_layer = \"infiniband\"");
}

// Words of opensm's own command line. A daemon would leave the device process, which ends what it has
// started.
void read_opensm_options(const TableReader& root, Configuration& configuration) {
  constexpr std::string_view rule =
      "a list of words of opensm's command line, such as [\"-R\", \"ftree\"], without -B and --daemon";
  const toml::node* const node = root.table().get("opensm_options");
  if (node == nullptr) return;
  if (configuration.subnet_manager != ManagerChoice::opensm)
    root.refuse("opensm_options", *node, "nothing without subnet_manager = \"opensm\"");
  const toml::array* const list = node->as_array();
  if (list == nullptr) root.refuse("opensm_options", *node, rule);
  for (const toml::node& entry : *list) {
    const auto word = entry.value_exact<std::string>();
    if (!word || *word == "-B" || *word == "--daemon") root.refuse("opensm_options", entry, rule);
    configuration.opensm_options.push_back(*word);
  }
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

// The section that gives this face to all devices, if it is not their face without it.
std::string common_section(Face face) {
  return face == Face::urnic ? "" : fmt::format("[device]\nface = \"{}\"\n", name(face));
}

}  // namespace

std::string text_of_file(const std::string& file, const std::string& needed) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) throw ConfigurationError(fmt::format("{}: cannot be read; {}", file, needed));
  return text.str();
}

transport::CongestionSettings congestion_of(const DeviceSettings& device) {
  transport::CongestionSettings settings = device.congestion;
  const double rate = device.transmit_link.rate_gbps;
  if (rate > 0) settings.line = std::min(settings.line, transport::SendRate::gbps(rate));
  return settings;
}

Configuration default_configuration(Face face) {
  Configuration configuration = parse_configuration(common_section(face), "defaults");
  configuration.source.face = face;
  return configuration;
}

Configuration udp_configuration(const std::vector<std::string>& devices, Face face) {
  std::string text = common_section(face);
  for (const std::string& device : devices) {
    text += "[[devices]]\nwire = \"udp\"\naddresses = [\"";
    for (const char letter : device) text += letter == ',' ? "\", \"" : std::string(1, letter);
    text += "\"]\n";
  }
  Configuration configuration = parse_configuration(text, "--udp");
  configuration.source.udp = devices;
  configuration.source.face = face;
  return configuration;
}

Configuration infiniband_configuration() {
  constexpr const char* kText =
      "subnet_manager = \"automatic\"\n"
      "[[devices]]\nlink_layer = \"infiniband\"\n"
      "[[devices]]\nlink_layer = \"infiniband\"\n";
  Configuration configuration = parse_configuration(kText, "--infiniband");
  configuration.source.infiniband = true;
  return configuration;
}

Configuration ibsim_configuration(const std::string& file) {
  const toml::table table{{"subnet_manager", "automatic"},
                          {"ibsim_net", std::filesystem::absolute(file).string()}};
  std::ostringstream text;
  text << table;
  Configuration configuration = parse_configuration(text.str(), "--ibsim-net");
  configuration.source.ibsim_net = true;
  configuration.source.file = file;
  configuration.source.text = text_of_file(file, "--ibsim-net needs a file that exists");
  return configuration;
}

Configuration load_configuration(const std::string& file) {
  const std::string text = text_of_file(file, "--config needs a TOML file that exists");
  Configuration configuration = parse_configuration(text, file);
  configuration.source.file = file;
  configuration.source.text = text;
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
  root.known_keys({"congestion", "device", "devices", "engine", "fabric", "faults", "ibsim_net", "interfaces",
                   "lan", "limits", "link", "logging", "network", "opensm_options", "outside",
                   "subnet_manager", "switch"});
  const auto net = read_net_file(root, name);
  net ? read_net_devices(*net, root, name, configuration) : read_devices(root, name, configuration);
  read_engine(root, name, configuration);
  read_congestion(root, name, configuration);
  read_lan(root, name, configuration);
  read_switch(root, name, configuration);
  read_interfaces(root, configuration);
  net ? plan_net(*net, root, name, configuration) : read_fabric(root, name, configuration);
  read_subnet_manager(root, configuration);
  read_opensm_options(root, configuration);
  read_limits(root, name, configuration);
  read_logging(root, name, configuration);
  read_links(root, name, configuration);
  configuration.fault_plan =
      root.text("faults", "the path of a fault plan, such as \"plan.toml\" (docs/faults.md)").value_or("");
  return configuration;
}

}  // namespace urnic::control
