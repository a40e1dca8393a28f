#include "device_model/control/fabric/fabric_section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include "device_model/control/fabric/ability_keys.hpp"
#include "device_model/control/fabric/credit_keys.hpp"
#include "device_model/control/fabric/node_keys.hpp"
#include "device_model/control/fabric/planned_devices.hpp"

namespace urnic::control {
namespace {

using settings::TableReader;
using subnet::PlannedLink;
using subnet::PlannedNode;
using wire::mad::NodeType;

constexpr std::size_t kMostSections = 65536;
constexpr std::size_t kLeastHubPorts = 8;
constexpr const char* kHubName = "urnic switch";
constexpr std::string_view kEndRule =
    "a switch's port, such as \"leaf1:8\", or the name of a device or host, such as \"urnic0\"";
constexpr std::string_view kNameRule =
    "1 to 64 printable characters of ASCII without ':' and '\"', such as \"leaf1\"";
constexpr std::array<std::string_view, 2> kLinkStates{"down", "up"};

std::string read_name(const TableReader& reader) {
  const auto name = reader.text("name", kNameRule);
  if (!name) reader.fail(reader.table().source(), fmt::format("it has no name: needed is {}", kNameRule));
  if (name->empty() || !is_node_text(*name, ":\""))
    reader.refuse("name", *reader.table().get("name"), kNameRule);
  return *name;
}

void known_keys(const TableReader& reader, std::vector<std::string_view> keys) {
  keys.insert(keys.end(), kAbilityKeys.begin(), kAbilityKeys.end());
  reader.known_keys(keys);
}

// One reader for each section [[fabric.KEY]].
std::vector<TableReader> sections_of(const TableReader& fabric, const std::string& file,
                                     std::string_view key) {
  std::vector<TableReader> readers;
  const toml::array* const list = fabric.sections(key, kMostSections);
  if (list == nullptr) return readers;
  for (const toml::node& entry : *list)
    readers.emplace_back(*entry.as_table(), file, fmt::format("fabric.{}.", key));
  return readers;
}

void add(const TableReader& reader, subnet::FabricPlan& plan, const PlannedNode& node) {
  if (const std::string problem = plan.add(node); !problem.empty())
    reader.fail(reader.table().source(), fmt::format("{}: {}", node.name, problem));
}

void read_switch_node(const TableReader& reader, const subnet::LinkAbility& common,
                      subnet::FabricPlan& plan) {
  known_keys(reader, {"name", "ports", "node_guid", "description"});
  PlannedNode node{.type = NodeType::switch_node, .name = read_name(reader)};
  const auto ports = reader.integer("ports", 1, subnet::kMostSwitchPorts);
  if (!ports)
    reader.fail(reader.table().source(),
                fmt::format("the switch {} has no \"ports\": needed is a whole number from 1 to {}",
                            node.name, subnet::kMostSwitchPorts));
  node.ports = static_cast<subnet::PortNumber>(*ports);
  node.description = read_description(reader).value_or(node.name);
  node.guid = read_node_guid(reader);
  node.ability = read_ability(reader, common);
  add(reader, plan, node);
}

void read_host(const TableReader& reader, const subnet::LinkAbility& common, subnet::FabricPlan& plan) {
  known_keys(reader, {"name", "node_guid", "description"});
  PlannedNode node{.name = read_name(reader)};
  node.description = read_description(reader).value_or(node.name);
  node.guid = read_node_guid(reader);
  node.ability = read_ability(reader, common);
  add(reader, plan, node);
}

std::string names_of(const subnet::FabricPlan& plan) {
  constexpr std::size_t kShown = 8;
  std::string names;
  for (std::size_t i = 0; i < std::min(kShown, plan.nodes().size()); ++i)
    names += (i != 0 ? ", " : "") + plan.nodes()[i].name;
  return plan.nodes().size() > kShown ? names + ", …" : names;
}

subnet::PortPlace read_end(const TableReader& reader, std::string_view key, const subnet::FabricPlan& plan) {
  const auto text = reader.text(key, kEndRule);
  if (!text)
    reader.fail(reader.table().source(), fmt::format("the link has no \"{}\": needed is {}", key, kEndRule));
  const toml::node& node = *reader.table().get(key);
  const std::size_t colon = text->find(':');
  const std::string name = text->substr(0, colon);
  const auto found = plan.find(name);
  if (!found)
    reader.fail(node.source(), fmt::format("fabric.links.{} = \"{}\": there is no \"{}\"; the nodes are {}",
                                           key, *text, name, names_of(plan)));
  const bool is_switch = plan.nodes()[*found].type == NodeType::switch_node;
  if (colon == std::string::npos && !is_switch) return {*found, 1};
  unsigned port = 0;
  const char* const end = text->data() + text->size();
  const char* const begin = colon == std::string::npos ? end : text->data() + colon + 1;
  const auto [stop, error] = std::from_chars(begin, end, port);
  if (error != std::errc{} || stop != end || port == 0 || port > 255) reader.refuse(key, node, kEndRule);
  return {*found, static_cast<subnet::PortNumber>(port)};
}

void read_link(const TableReader& reader, subnet::FabricPlan& plan) {
  known_keys(reader, {"from", "to", "state"});
  PlannedLink link = read_ability_keys(reader);
  link.is_plugged = reader.word("state", kLinkStates).value_or(1) == 1;
  link.one = read_end(reader, "from", plan);
  link.other = read_end(reader, "to", plan);
  if (const std::string problem = plan.connect(link); !problem.empty())
    reader.fail(reader.table().source(),
                fmt::format("the link from {} to {} cannot be: {}", *reader.text("from", kEndRule),
                            *reader.text("to", kEndRule), problem));
}

std::vector<subnet::NodeIndex> unlinked_adapters(const subnet::FabricPlan& plan) {
  std::vector<subnet::NodeIndex> adapters;
  for (subnet::NodeIndex i = 0; i < plan.nodes().size(); ++i)
    if (plan.nodes()[i].type == NodeType::channel_adapter && !plan.is_linked({i, 1})) adapters.push_back(i);
  return adapters;
}

std::optional<subnet::PortPlace> free_switch_port(const subnet::FabricPlan& plan) {
  for (subnet::NodeIndex i = 0; i < plan.nodes().size(); ++i) {
    if (plan.nodes()[i].type != NodeType::switch_node) continue;
    if (const auto port = plan.free_port(i)) return subnet::PortPlace{i, *port};
  }
  return {};
}

// A switch for all that no link names.
void add_hub(const subnet::LinkAbility& ability, subnet::FabricPlan& plan) {
  const std::size_t adapters = unlinked_adapters(plan).size();
  if (adapters == 0) return;
  PlannedNode hub{.type = NodeType::switch_node, .name = kHubName, .description = kHubName};
  hub.ports = static_cast<subnet::PortNumber>(
      std::clamp<std::size_t>(adapters, kLeastHubPorts, subnet::kMostSwitchPorts));
  hub.ability = ability;
  plan.add(hub);
}

void link_the_rest(const TableReader& reader, subnet::FabricPlan& plan) {
  for (const subnet::NodeIndex adapter : unlinked_adapters(plan)) {
    const auto place = free_switch_port(plan);
    if (!place)
      reader.fail(
          reader.table().source(),
          fmt::format("\"{}\" has no link, and no switch has a free port for it: needed is a link, or a "
                      "switch with more ports",
                      plan.nodes()[adapter].name));
    plan.connect({.one = {adapter, 1}, .other = *place});
  }
}

}  // namespace

void read_fabric(const TableReader& root, const std::string& file, Configuration& configuration) {
  const toml::table nothing;
  const toml::table* const table = root.section("fabric");
  const bool has_devices =
      std::any_of(configuration.devices.begin(), configuration.devices.end(), is_infiniband);
  if (!has_devices) {
    if (table != nullptr)
      root.refuse("fabric", *root.table().get("fabric"),
                  "nothing without a device that has link_layer = \"infiniband\"");
    return;
  }
  const TableReader reader(table != nullptr ? *table : nothing, file, "fabric.");
  std::vector<std::string_view> keys{"switches", "hosts", "links"};
  keys.insert(keys.end(), kCreditKeys.begin(), kCreditKeys.end());
  known_keys(reader, std::move(keys));
  read_credits(reader, configuration);
  const subnet::LinkAbility common = read_ability(reader, {});
  subnet::FabricPlan& plan = configuration.fabric;
  const std::vector<TableReader> switches = sections_of(reader, file, "switches");
  for (const TableReader& each : switches) read_switch_node(each, common, plan);
  for (DeviceSettings& device : configuration.devices) {
    if (!is_infiniband(device)) continue;
    device.fabric_node = static_cast<subnet::NodeIndex>(plan.nodes().size());
    add(root, plan, planned(device, common));
  }
  for (const TableReader& each : sections_of(reader, file, "hosts")) read_host(each, common, plan);
  for (const TableReader& each : sections_of(reader, file, "links")) read_link(each, plan);
  if (switches.empty()) add_hub(common, plan);
  link_the_rest(reader, plan);
  check_queues(reader, configuration);
}

}  // namespace urnic::control
