#include "device_model/link/subnet_links/deadlock.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace urnic::link {
namespace {

// What waits for a lane that ends ends, too. What is left then waits for ever.
void mark_all_that_end(std::vector<WaitsFor>& lanes) {
  for (bool changes = true; changes;) {
    changes = false;
    for (WaitsFor& each : lanes) {
      if (each.can_end) continue;
      each.can_end =
          each.others.empty() || std::any_of(each.others.begin(), each.others.end(),
                                             [&](std::uint32_t other) { return lanes[other].can_end; });
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
    at = lanes[at].others.front();
  }
  std::vector<WaitingLane> circle;
  std::transform(seen, path.end(), std::back_inserter(circle),
                 [&](std::size_t each) { return lanes[each].lane; });
  return circle;
}

}  // namespace urnic::link
