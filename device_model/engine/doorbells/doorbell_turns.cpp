#include "device_model/engine/doorbells/doorbell_turns.hpp"

#include <algorithm>

#include "device_model/engine/doorbells/clock_pages.hpp"
#include "device_model/engine/doorbells/doorbell_set.hpp"
#include "device_model/engine/doorbells/uar_pages.hpp"

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
  bool worked = cost != 0;
  if (!pages_.empty()) pages_[attended_++ % pages_.size()]->attend();
  for (UarPages* const pages : pages_) worked |= pages->look(kPerLook);
  return worked;
}

bool DoorbellTurns::show_clocks() {
  bool keeps = false;
  for (ClockPages* const clock : clocks_) keeps |= clock->show();
  return keeps;
}

void DoorbellTurns::going_to_sleep(transport::Time now) {
  for (UarPages* const pages : pages_) pages->going_to_sleep(now);
  for (ClockPages* const clock : clocks_) clock->going_to_sleep(now);
}

std::optional<transport::Time> DoorbellTurns::look_again() const {
  std::optional<transport::Time> earliest;
  const auto also = [&earliest](const std::optional<transport::Time>& again) {
    if (again && (!earliest || *again < *earliest)) earliest = again;
  };
  for (const UarPages* const pages : pages_) also(pages->look_again());
  for (const ClockPages* const clock : clocks_) also(clock->look_again());
  return earliest;
}

bool DoorbellTurns::stores_wake() const {
  return std::any_of(pages_.begin(), pages_.end(), [](const UarPages* pages) { return pages->wakes(); });
}

void DoorbellTurns::awake(transport::Time now) {
  for (UarPages* const pages : pages_) pages->awake(now);
  for (ClockPages* const clock : clocks_) clock->awake();
}

bool DoorbellTurns::rung() const {
  return std::any_of(sets_.begin(), sets_.end(), [](const DoorbellSet* set) { return set->rung(); }) ||
         std::any_of(pages_.begin(), pages_.end(), [](const UarPages* pages) { return pages->rung(); });
}

}  // namespace urnic::engine
