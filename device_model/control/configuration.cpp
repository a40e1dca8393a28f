#include "device_model/control/configuration.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <string_view>

#include "device_model/control/limits.hpp"

namespace urnic::control {
namespace {

std::string printed(const toml::node& node) {
  std::ostringstream text;
  node.visit([&](const auto& value) { text << value; });
  std::string line = text.str();
  std::replace(line.begin(), line.end(), '\n', ' ');
  return line.size() > 80 ? line.substr(0, 77) + "..." : line;
}

// Reads one table; what it is not asked for is an error.
class TableReader {
 public:
  TableReader(const toml::table& table, const std::string& file, std::string title)
      : table_(table), file_(file), title_(std::move(title)) {}

  [[noreturn]] void fail(const toml::source_region& where, const std::string& problem) const {
    throw ConfigurationError(fmt::format("{}:{}: {}", file_, where.begin.line, problem));
  }
  [[noreturn]] void refuse(std::string_view key, const toml::node& node, std::string_view allowed) const {
    fail(node.source(), fmt::format("{}{} = {}: allowed is {}", title_, key, printed(node), allowed));
  }

  void known_keys(std::initializer_list<std::string_view> keys) const {
    for (const auto& [key, node] : table_) {
      if (std::find(keys.begin(), keys.end(), key.str()) != keys.end()) continue;
      fail(key.source(),
           fmt::format("{}{}: no such setting; known here are {}", title_, key.str(), fmt::join(keys, ", ")));
    }
  }

  const toml::table& table() const { return table_; }

  void integer(std::string_view key, std::uint32_t lowest, std::uint32_t highest, std::uint32_t& out) const {
    const toml::node* node = table_.get(key);
    if (node == nullptr) return;
    const auto value = node->value_exact<std::int64_t>();
    if (!value || *value < lowest || *value > highest) {
      refuse(key, *node, fmt::format("a whole number from {} to {}", lowest, highest));
    }
    out = static_cast<std::uint32_t>(*value);
  }

  std::optional<std::string> text(std::string_view key, std::string_view allowed) const {
    const toml::node* node = table_.get(key);
    if (node == nullptr) return {};
    const auto value = node->value_exact<std::string>();
    if (!value) refuse(key, *node, allowed);
    return value;
  }

 private:
  const toml::table& table_;
  const std::string& file_;
  std::string title_;
};

wire::Gid link_local_gid(const wire::MacAddress& mac) {
  wire::Gid gid;
  gid.bytes[0] = 0xFE;
  gid.bytes[1] = 0x80;
  const auto identifier = modified_eui64(mac);
  std::copy(identifier.begin(), identifier.end(), gid.bytes.begin() + 8);
  return gid;
}

// 192.0.2.0/24 is for documentation (RFC 5737): no network that the machine is on has these addresses.
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

void read_gids(const TableReader& reader, std::vector<wire::Gid>& gids) {
  const toml::node* node = reader.table().get("gids");
  if (node == nullptr) return;
  const std::string allowed =
      fmt::format("a list of 1 to {} IPv6 addresses, such as [\"fe80::1\", \"::ffff:192.0.2.1\"]",
                  limits::kGidTableLength);
  const toml::array* list = node->as_array();
  if (list == nullptr || list->empty() || list->size() > limits::kGidTableLength) {
    reader.refuse("gids", *node, allowed);
  }
  gids.clear();
  for (const toml::node& entry : *list) {
    const auto text = entry.value_exact<std::string>();
    const auto gid = text ? parse_gid(*text) : std::nullopt;
    if (!gid || *gid == wire::Gid{} || gid->bytes[0] == 0xFF) {
      reader.refuse("gids", entry, "the unicast address of one device, such as \"::ffff:192.0.2.1\"");
    }
    gids.push_back(*gid);
  }
}

void read_common(const TableReader& reader, DeviceSettings& device) {
  reader.integer("vendor_id", 0, 0xFFFFFF, device.vendor_id);
  reader.integer("vendor_part_id", 0, 0xFFFFFFFF, device.vendor_part_id);
  reader.integer("hardware_version", 0, 0xFFFFFFFF, device.hardware_version);
  reader.integer("mtu", 0, 0xFFFFFFFF, device.mtu);
  if (device.mtu < 256 || device.mtu > 4096 || (device.mtu & (device.mtu - 1)) != 0) {
    reader.refuse("mtu", *reader.table().get("mtu"), "256, 512, 1024, 2048 or 4096");
  }
}

bool is_device_name(const std::string& name) {
  // libibverbs finds the plugin by the pattern "*urnic*"; the name is a folder in sysfs and part of
  // perftest's options.
  return name.size() <= 31 && name.starts_with("urnic") &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
             std::string::npos;
}

DeviceSettings read_device(const TableReader& reader, std::size_t number, const DeviceSettings& defaults) {
  reader.known_keys({"name", "mac", "gids", "mtu", "vendor_id", "vendor_part_id", "hardware_version"});
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
  device.gids = {link_local_gid(device.mac), ipv4_gid(number)};
  read_gids(reader, device.gids);
  read_common(reader, device);
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

const toml::table* section(const TableReader& root, std::string_view key) {
  const toml::node* node = root.table().get(key);
  if (node == nullptr) return nullptr;
  if (node->as_table() == nullptr) root.refuse(key, *node, fmt::format("a section, [{}]", key));
  return node->as_table();
}

void read_devices(const TableReader& root, const std::string& file, Configuration& configuration) {
  DeviceSettings defaults;
  if (const toml::table* table = section(root, "device")) {
    const TableReader reader(*table, file, "device.");
    reader.known_keys({"mtu", "vendor_id", "vendor_part_id", "hardware_version"});
    read_common(reader, defaults);
  }
  const toml::table nothing;
  const toml::node* node = root.table().get("devices");
  if (node == nullptr) {
    for (std::size_t i = 0; i < 2; ++i) {
      configuration.devices.push_back(read_device(TableReader(nothing, file, ""), i, defaults));
    }
    return;
  }
  const toml::array* list = node->as_array();
  if (list == nullptr || list->empty() || list->size() > kMaxDevices ||
      !list->is_homogeneous<toml::table>()) {
    root.refuse("devices", *node, fmt::format("1 to {} sections [[devices]]", kMaxDevices));
  }
  for (const toml::node& entry : *list) {
    const TableReader reader(*entry.as_table(), file, "devices.");
    configuration.devices.push_back(read_device(reader, configuration.devices.size(), defaults));
    check_unique(reader, configuration.devices);
  }
}

void read_logging(const TableReader& root, const std::string& file, Configuration& configuration) {
  const toml::table* table = section(root, "logging");
  if (table == nullptr) return;
  const TableReader reader(*table, file, "logging.");
  reader.known_keys({"level"});
  constexpr std::string_view levels[] = {"trace", "debug", "info", "warning", "error", "off"};
  constexpr std::string_view rule = R"("trace", "debug", "info", "warning", "error" or "off")";
  if (const auto level = reader.text("level", rule)) {
    if (std::find(std::begin(levels), std::end(levels), *level) == std::end(levels)) {
      reader.refuse("level", *table->get("level"), rule);
    }
    configuration.log_level = *level;
  }
}

void read_engine(const TableReader& root, const std::string& file, Configuration& configuration) {
  const toml::table* table = section(root, "engine");
  if (table == nullptr) return;
  const TableReader reader(*table, file, "engine.");
  reader.known_keys({"idle_spin_us"});
  auto microseconds = static_cast<std::uint32_t>(configuration.idle_spin.count() / 1000);
  reader.integer("idle_spin_us", 0, 1'000'000, microseconds);
  configuration.idle_spin = std::chrono::microseconds(microseconds);
}

}  // namespace

Configuration default_configuration() { return parse_configuration("", "defaults"); }

Configuration load_configuration(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) {
    throw ConfigurationError(
        fmt::format("{}: cannot be read; --config needs a TOML file that exists", file.string()));
  }
  return parse_configuration(text.str(), file.string());
}

Configuration parse_configuration(const std::string& text, const std::string& name) {
  toml::table parsed;
  try {
    parsed = toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    throw ConfigurationError(fmt::format("{}:{}: not TOML: {}", name, error.source().begin.line,
                                         std::string_view(error.description())));
  }
  Configuration configuration;
  const TableReader root(parsed, name, "");
  root.known_keys({"device", "devices", "engine", "logging"});
  read_devices(root, name, configuration);
  read_engine(root, name, configuration);
  read_logging(root, name, configuration);
  return configuration;
}

}  // namespace urnic::control
