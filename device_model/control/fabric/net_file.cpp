#include "device_model/control/fabric/net_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "device_model/control/fabric/ability_keys.hpp"
#include "device_model/control/fabric/credit_keys.hpp"
#include "device_model/control/fabric/device_sections.hpp"
#include "device_model/control/fabric/planned_devices.hpp"

namespace urnic::control {
namespace {

using wire::mad::NodeType;

std::string path_of(const std::string& value, const std::string& file) {
  return (std::filesystem::path(file).parent_path() / value).string();
}

std::size_t adapters_of(const subnet::NetFile& net) {
  return static_cast<std::size_t>(std::count_if(net.nodes.begin(), net.nodes.end(), [](const auto& node) {
    return node.planned.type == NodeType::channel_adapter;
  }));
}

toml::table section_of(const subnet::PlannedNode& adapter) {
  toml::table section{{"link_layer", "infiniband"}, {"description", adapter.description}};
  if (adapter.guid.value != 0) section.insert("node_guid", fmt::format("{:#018x}", adapter.guid.value));
  return section;
}

bool names_device(const std::string& name, const Configuration& configuration) {
  return std::any_of(configuration.devices.begin(), configuration.devices.end(),
                     [&](const DeviceSettings& device) { return device.name == name; });
}

// What the file says is not said twice.
void check_keys(const settings::TableReader& fabric) {
  for (const std::string_view key : {"switches", "hosts", "links", "width", "speed"})
    if (const toml::node* const node = fabric.table().get(key))
      fabric.refuse(key, *node, "nothing beside ibsim_net, whose file has it");
  std::vector<std::string_view> keys{"mtu", "vls"};
  keys.insert(keys.end(), kCreditKeys.begin(), kCreditKeys.end());
  fabric.known_keys(keys);
}

}  // namespace

std::optional<NetFileSetting> read_net_file(const settings::TableReader& root, const std::string& file) {
  const auto value = root.text("ibsim_net", "the path of a topology in ibsim's format, such as \"lab.net\"");
  if (!value) return {};
  if (const toml::node* const node = root.table().get("devices"))
    root.refuse("devices", *node, "nothing beside ibsim_net, whose file has the devices");
  NetFileSetting setting{.file = path_of(*value, file), .net = {}};
  const std::string text = text_of_file(setting.file, "ibsim_net needs a file that exists");
  try {
    setting.net = subnet::parse_ibsim_net(text);
  } catch (const subnet::NetFileError& error) {
    settings::fail_at(setting.file, error.line, error.what());
  }
  if (adapters_of(setting.net) == 0)
    settings::fail_at(setting.file, setting.net.nodes.back().line,
                      "there is no Hca in the file: a device is one");
  return setting;
}

void read_net_devices(const NetFileSetting& setting, const settings::TableReader& root,
                      const std::string& file, Configuration& configuration) {
  toml::array sections;
  for (const subnet::NetNode& node : setting.net.nodes)
    if (node.planned.type == NodeType::channel_adapter && sections.size() < kMaxDevices)
      sections.push_back(section_of(node.planned));
  read_devices(root, file, configuration, &sections);
}

void plan_net(const NetFileSetting& setting, const settings::TableReader& root, const std::string& file,
              Configuration& configuration) {
  const toml::table nothing;
  const toml::table* const section = root.section("fabric");
  const settings::TableReader reader(section != nullptr ? *section : nothing, file, "fabric.");
  check_keys(reader);
  read_credits(reader, configuration);
  const subnet::LinkAbility common = read_ability(reader, {});
  subnet::FabricPlan& plan = configuration.fabric;
  std::size_t device = 0;
  for (subnet::NodeIndex i = 0; i < setting.net.nodes.size(); ++i) {
    subnet::PlannedNode node = setting.net.nodes[i].planned;
    node.ability.mtu = common.mtu;
    node.ability.vls = common.vls;
    if (node.type == NodeType::channel_adapter && device < configuration.devices.size()) {
      DeviceSettings& settings = configuration.devices[device++];
      settings.fabric_node = i;
      const subnet::PlannedNode own = planned(settings, node.ability);
      node.guid = own.guid;
      node.ability.mtu = own.ability.mtu;
      node.largest_mtu = own.largest_mtu;
    }
    if (node.type == NodeType::switch_node && names_device(node.name, configuration))
      settings::fail_at(setting.file, setting.net.nodes[i].line,
                        fmt::format("a switch is \"{}\", which is the name of a device: commands need two "
                                    "names for them",
                                    node.name));
    if (const std::string problem = plan.add(std::move(node)); !problem.empty())
      settings::fail_at(setting.file, setting.net.nodes[i].line, problem);
  }
  for (const subnet::NetLink& link : setting.net.links)
    if (const std::string problem = plan.connect(link.link); !problem.empty())
      settings::fail_at(setting.file, link.line, problem);
  check_queues(reader, configuration);
}

}  // namespace urnic::control
