#include "device_model/control/fabric/lan_settings.hpp"

#include <grp.h>
#include <net/if.h>
#include <pwd.h>

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "device_model/settings/table_reader.hpp"
#include "wire/ethernet.hpp"

namespace urnic::control {
namespace {

using link::CarrierKind;
using settings::TableReader;

constexpr std::string_view kPathRule = "the path of a UNIX socket, such as \"/tmp/lan.socket\"";
constexpr std::string_view kDatagramRule =
    "the path of a UNIX socket, such as \"/tmp/one\", or ADDRESS:PORT, such as \"10.0.0.1:5000\"";
constexpr std::string_view kInterfaceRule = "a network interface's name, such as \"eth0\"";
constexpr std::string_view kGroupRule = "a group of this machine, such as \"rdma\"";
constexpr std::string_view kUsersRule =
    "a list of users of this machine, by name or number, or [\"*\"] for everybody";

struct Kind {
  std::string_view key;
  CarrierKind kind;
  std::string_view rule;
};
constexpr std::array kKinds{
    Kind{"listen", CarrierKind::listen, kPathRule}, Kind{"connect", CarrierKind::connect, kPathRule},
    Kind{"datagram", CarrierKind::datagram, kDatagramRule},
    Kind{"interface", CarrierKind::interface, kInterfaceRule}, Kind{"tap", CarrierKind::tap, kInterfaceRule}};

void read_carrier(const TableReader& reader, link::CarrierSettings& carrier) {
  const Kind* chosen = nullptr;
  for (const Kind& kind : kKinds) {
    if (!reader.table().contains(kind.key)) continue;
    if (chosen != nullptr)
      reader.refuse(kind.key, *reader.table().get(kind.key),
                    "only one of listen, connect, datagram, interface, tap");
    chosen = &kind;
  }
  if (chosen == nullptr)
    reader.fail(reader.table().source(), "lan needs one of listen, connect, datagram, interface, tap");
  carrier.kind = chosen->kind;
  carrier.name = reader.text(chosen->key, chosen->rule).value_or("");
  const bool names_interface = link::needs_privilege(carrier.kind);
  if (carrier.name.empty() || (names_interface && carrier.name.size() >= IFNAMSIZ))
    reader.refuse(chosen->key, *reader.table().get(chosen->key), chosen->rule);
}

bool is_path(const std::string& name) { return name.find('/') != std::string::npos; }

void read_remote(const TableReader& reader, link::CarrierSettings& carrier) {
  const auto remote = reader.text("remote", kDatagramRule);
  if (carrier.kind == CarrierKind::datagram) {
    if (!remote || is_path(*remote) != is_path(carrier.name))
      reader.fail(reader.table().source(), "lan.datagram needs remote: the peer's socket, of the same kind");
    carrier.remote = *remote;
  } else if (remote) {
    reader.refuse("remote", *reader.table().get("remote"), "nothing without datagram");
  }
}

std::optional<uid_t> read_user(const toml::node& entry) {
  if (const auto number = entry.value_exact<std::int64_t>())
    return *number >= 0 && *number < 0xFFFF'FFFF ? std::optional(static_cast<uid_t>(*number)) : std::nullopt;
  const auto name = entry.value_exact<std::string>();
  const passwd* const found = name ? getpwnam(name->c_str()) : nullptr;
  return found != nullptr ? std::optional(found->pw_uid) : std::nullopt;
}

void read_users(const TableReader& reader, link::ListenerAccess& access) {
  const toml::node* const node = reader.table().get("users");
  if (node == nullptr) return;
  const toml::array* const list = node->as_array();
  if (list == nullptr || list->empty()) reader.refuse("users", *node, kUsersRule);
  for (const toml::node& entry : *list) {
    if (entry.value_exact<std::string>() == "*") {
      access.everybody = true;
      continue;
    }
    const auto user = read_user(entry);
    if (!user) reader.refuse("users", entry, kUsersRule);
    access.users.push_back(*user);
  }
}

void read_access(const TableReader& reader, link::CarrierSettings& carrier) {
  if (const auto name = reader.text("group", kGroupRule)) {
    const group* const found = getgrnam(name->c_str());
    if (found == nullptr) reader.refuse("group", *reader.table().get("group"), kGroupRule);
    carrier.access.group = found->gr_gid;
  }
  read_users(reader, carrier.access);
  if (carrier.kind == CarrierKind::listen) return;
  for (const std::string_view key : {"group", "users"})
    if (const toml::node* node = reader.table().get(key)) reader.refuse(key, *node, "nothing without listen");
}

std::string absolute(const std::string& path, const std::string& folder) {
  return (std::filesystem::path(folder) / path).string();
}

}  // namespace

LanSettings read_lan_settings(const TableReader& reader) {
  reader.known_keys(
      {"listen", "connect", "datagram", "remote", "interface", "tap", "vlan", "mtu", "group", "users"});
  LanSettings lan;
  read_carrier(reader, lan.carrier);
  read_remote(reader, lan.carrier);
  read_access(reader, lan.carrier);
  if (lan.is_interface()) lan.mtu = 0;
  if (const auto vlan = reader.integer("vlan", 1, wire::kLastVlan))
    lan.vlan = static_cast<std::uint16_t>(*vlan);
  reader.integer("mtu", 576, 65535, lan.mtu);
  return lan;
}

void make_paths_absolute(LanSettings& settings, const std::string& folder) {
  link::CarrierSettings& carrier = settings.carrier;
  const bool paths = carrier.kind == CarrierKind::datagram ? is_path(carrier.name) : !settings.is_interface();
  if (!paths) return;
  carrier.name = absolute(carrier.name, folder);
  if (carrier.kind == CarrierKind::datagram) carrier.remote = absolute(carrier.remote, folder);
}

}  // namespace urnic::control
