#include "device_model/engine/doorbells/doorbell_turns.hpp"

#include <algorithm>

#include "device_model/engine/doorbells/doorbell_set.hpp"

namespace urnic::engine {

void DoorbellTurns::add(DoorbellSet& set) { sets_.push_back(&set); }

void DoorbellTurns::remove(DoorbellSet& set) {
  std::erase(sets_, &set);
  next_ = 0;
}

// Ends when no set has more, or when the cost of one look is used up: the next look begins with the next set.
bool DoorbellTurns::look() {
  std::uint32_t cost = 0;
  std::size_t quiet = 0;  // sets in a row that have nothing more
  while (quiet < sets_.size() && cost < kPerLook) {
    if (next_ >= sets_.size()) next_ = 0;
    DoorbellSet& set = *sets_[next_++];
    cost += set.collect_word();
    quiet = set.has_more() ? 0 : quiet + 1;
  }
  return cost != 0;
}

bool DoorbellTurns::rung() const {
  return std::any_of(sets_.begin(), sets_.end(), [](const DoorbellSet* set) { return set->rung(); });
}

}  // namespace urnic::engine
