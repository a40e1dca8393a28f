#include "device_model/control/fabric/ability_keys.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace urnic::control {
namespace {

using settings::TableReader;

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

}  // namespace

subnet::PlannedLink read_ability_keys(const TableReader& reader) {
  subnet::PlannedLink keys;
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
  const subnet::PlannedLink keys = read_ability_keys(reader);
  return {.width = keys.width.value_or(otherwise.width),
          .speed = keys.speed.value_or(otherwise.speed),
          .mtu = keys.mtu.value_or(otherwise.mtu),
          .vls = keys.vls.value_or(otherwise.vls)};
}

}  // namespace urnic::control
