#include "device_model/control/fabric/credit_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "device_model/link/subnet_links/output_queues.hpp"

namespace urnic::control {

using settings::TableReader;

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

// A switch has a queue for each pair of its ports and each virtual lane, also where nothing passes.
void check_queues(const TableReader& reader, const Configuration& configuration) {
  if (!configuration.credits) return;
  const subnet::FabricPlan& plan = configuration.fabric;
  constexpr std::size_t kMegabyte = 1'000'000;
  constexpr std::size_t kMost = 1000 * kMegabyte;
  std::vector<std::uint8_t> vls;
  for (const subnet::PlannedNode& node : plan.nodes()) vls.push_back(node.ability.vls);
  for (const subnet::PlannedLink& link : plan.links())
    for (const subnet::PortPlace end : {link.one, link.other})
      vls[end.node] = std::max(vls[end.node], link.vls.value_or(0));
  std::size_t bytes = 0;
  for (subnet::NodeIndex i = 0; i < vls.size(); ++i)
    if (plan.nodes()[i].type == wire::mad::NodeType::switch_node)
      bytes += link::OutputQueues::bytes_of(plan.nodes()[i].ports + std::size_t{1},
                                            subnet::kDataLanes.at(vls[i] - std::size_t{1}));
  if (bytes > kMost)
    reader.refuse(
        "credits", *reader.table().get("credits"),
        fmt::format("false for this fabric, whose switches would need {} MB for their queues (at most {} "
                    "MB): with fewer \"vls\", or switches of fewer \"ports\", they need less",
                    bytes / kMegabyte, kMost / kMegabyte));
}

}  // namespace urnic::control
