#include "device_model/control/fabric/fabric_section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <vector>

#include "device_model/control/fabric/node_keys.hpp"
#include "device_model/control/fabric/planned_devices.hpp"
#include "device_model/link/subnet_links/output_queues.hpp"

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
constexpr std::array<std::string_view, 4> kAbilityKeys{"width", "speed", "mtu", "vls"};

std::string read_name(const TableReader& reader) {
  const auto name = reader.text("name", kNameRule);
  if (!name) reader.fail(reader.table().source(), fmt::format("it has no name: needed is {}", kNameRule));
  if (name->empty() || !is_node_text(*name, ":\""))
    reader.refuse("name", *reader.table().get("name"), kNameRule);
  return *name;
}

// PortInfo's code of one of `values`, whose first one has the code 1.
template <std::size_t N>
std::optional<std::uint8_t> read_code(const TableReader& reader, std::string_view key,
                                      const std::array<std::uint16_t, N>& values, std::string_view allowed) {
  const toml::node* const node = reader.table().get(key);
  if (node == nullptr) return {};
  const auto value = node->value_exact<std::int64_t>();
  const auto found = value ? std::find(values.begin(), values.end(), *value) : values.end();
  if (found == values.end()) reader.refuse(key, *node, allowed);
  return static_cast<std::uint8_t>(found - values.begin() + 1);
}

// The keys that the section has.
PlannedLink read_ability_keys(const TableReader& reader) {
  PlannedLink keys;
  if (const auto width = reader.word("width", subnet::kLinkWidthNames))
    keys.width = static_cast<subnet::LinkWidth>(*width);
  if (const auto speed = reader.word("speed", subnet::kLinkSpeedNames))
    keys.speed = static_cast<subnet::LinkSpeed>(*speed);
  keys.mtu = read_code(reader, "mtu", std::array<std::uint16_t, 5>{256, 512, 1024, 2048, 4096},
                       "256, 512, 1024, 2048 or 4096");
  keys.vls = read_code(reader, "vls", subnet::kDataLanes, "1, 2, 4, 8 or 15");
  return keys;
}

subnet::LinkAbility read_ability(const TableReader& reader, const subnet::LinkAbility& otherwise) {
  const PlannedLink keys = read_ability_keys(reader);
  return {.width = keys.width.value_or(otherwise.width),
          .speed = keys.speed.value_or(otherwise.speed),
          .mtu = keys.mtu.value_or(otherwise.mtu),
          .vls = keys.vls.value_or(otherwise.vls)};
}

void read_credits(const TableReader& reader, Configuration& configuration) {
  constexpr std::uint32_t kLeastBuffer = 8192;  // the longest packet, and as much again
  constexpr std::uint32_t kMostBuffer = 1 << 20;
  constexpr double kLongestDelay = 1000;
  if (reader.flag("credits").value_or(false)) configuration.credits.emplace();
  for (const std::string_view key : {"buffer_bytes", "hop_delay_us"}) {
    const toml::node* const node = reader.table().get(key);
    if (node != nullptr && !configuration.credits)
      reader.refuse(key, *node, "nothing without credits = true");
  }
  if (!configuration.credits) return;
  link::TimedSubnetSettings& settings = *configuration.credits;
  reader.integer("buffer_bytes", kLeastBuffer, kMostBuffer, settings.buffer_bytes);
  if (const auto delay =
          reader.number("hop_delay_us", 0, kLongestDelay, "microseconds, from 0 to 1000, such as 0.2"))
    settings.hop_delay = transport::Nanoseconds(std::llround(*delay * 1000));
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

// A switch has a queue for each pair of its ports and each virtual lane, also where nothing passes.
void check_queues(const TableReader& reader, const subnet::FabricPlan& plan) {
  constexpr std::size_t kMegabyte = 1'000'000;
  constexpr std::size_t kMost = 1000 * kMegabyte;
  std::vector<std::uint8_t> vls;
  for (const PlannedNode& node : plan.nodes()) vls.push_back(node.ability.vls);
  for (const PlannedLink& link : plan.links())
    for (const subnet::PortPlace end : {link.one, link.other})
      vls[end.node] = std::max(vls[end.node], link.vls.value_or(0));
  std::size_t bytes = 0;
  for (subnet::NodeIndex i = 0; i < vls.size(); ++i)
    if (plan.nodes()[i].type == NodeType::switch_node)
      bytes += link::OutputQueues::bytes_of(plan.nodes()[i].ports + std::size_t{1},
                                            subnet::kDataLanes.at(vls[i] - std::size_t{1}));
  if (bytes > kMost)
    reader.refuse(
        "credits", *reader.table().get("credits"),
        fmt::format("false for this fabric, whose switches would need {} MB for their queues (at most {} "
                    "MB): with fewer \"vls\", or switches of fewer \"ports\", they need less",
                    bytes / kMegabyte, kMost / kMegabyte));
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
  known_keys(reader, {"switches", "hosts", "links", "credits", "buffer_bytes", "hop_delay_us"});
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
  if (configuration.credits) check_queues(reader, plan);
}

}  // namespace urnic::control
