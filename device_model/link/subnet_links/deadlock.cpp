#include "device_model/link/subnet_links/deadlock.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace urnic::link {
namespace {

// A lane can end when one of the packets before it can leave with all of its copies.
bool ends(const std::vector<WaitsFor>& lanes, const WaitsFor& lane) {
  if (lane.packets.empty()) return true;
  return std::any_of(lane.packets.begin(), lane.packets.end(), [&](const auto& waits_in) {
    return std::all_of(waits_in.begin(), waits_in.end(),
                       [&](std::uint32_t other) { return lanes[other].can_end; });
  });
}

// Of a lane that can never end: another such one, for which it waits.
std::uint32_t next_of(const std::vector<WaitsFor>& lanes, const WaitsFor& lane) {
  const std::vector<std::uint32_t>& waits_in = *lane.packets.begin();
  return *std::find_if_not(waits_in.begin(), waits_in.end(),
                           [&](std::uint32_t other) { return lanes[other].can_end; });
}

// What waits for a lane that ends ends, too. What is left then waits for ever.
void mark_all_that_end(std::vector<WaitsFor>& lanes) {
  for (bool changes = true; changes;) {
    changes = false;
    for (WaitsFor& each : lanes) {
      if (each.can_end) continue;
      each.can_end = ends(lanes, each);
      changes |= each.can_end;
    }
  }
}

}  // namespace

std::vector<WaitingLane> find_deadlock(std::vector<WaitsFor> lanes) {
  mark_all_that_end(lanes);
  const auto first =
      std::find_if(lanes.begin(), lanes.end(), [](const WaitsFor& each) { return !each.can_end; });
  if (first == lanes.end()) return {};
  // Each of them waits for others of them: whoever follows them comes back.
  std::vector<std::size_t> path;
  auto at = static_cast<std::size_t>(first - lanes.begin());
  auto seen = path.end();
  while ((seen = std::find(path.begin(), path.end(), at)) == path.end()) {
    path.push_back(at);
    at = next_of(lanes, lanes[at]);
  }
  std::vector<WaitingLane> circle;
  std::transform(seen, path.end(), std::back_inserter(circle),
                 [&](std::size_t each) { return lanes[each].lane; });
  return circle;
}

}  // namespace urnic::link
