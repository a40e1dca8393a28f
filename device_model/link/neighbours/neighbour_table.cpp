#include "device_model/link/neighbours/neighbour_table.hpp"

#include <algorithm>

namespace urnic::link {

namespace {

using State = NeighbourTable::State;

bool is_asked(const NeighbourTable::Entry& entry) {
  return entry.state == State::incomplete || entry.state == State::probe;
}

bool has_address(const NeighbourTable::Entry& entry) {
  return entry.state != State::incomplete && entry.state != State::unreachable;
}

}  // namespace

// Asks `times_.tries` times, the first time at once.
void NeighbourTable::ask(Entry& entry, State state, transport::Time now) {
  entry.state = state;
  entry.tries_left = times_.tries;
  entry.due = now;
}

void NeighbourTable::confirm(Entry& entry, const wire::MacAddress& mac, transport::Time now) {
  entry.state = State::reachable;
  entry.mac = mac;
  entry.due = now + times_.reachable;
}

// Null: the table is full of entries that are asked for. Else the place of the least certain entry is reused.
NeighbourTable::Entry* NeighbourTable::add(const wire::Gid& gid) {
  if (entries_.size() >= kMostEntries) {
    const auto worst = std::max_element(entries_.begin(), entries_.end(), [](const auto& a, const auto& b) {
      const auto rank = [](const Entry& entry) {
        return is_asked(entry) ? -1 : static_cast<int>(entry.state);
      };
      return rank(a.second) < rank(b.second);
    });
    if (is_asked(worst->second)) return nullptr;
    entries_.erase(worst);
  }
  return &entries_[gid];
}

Neighbour NeighbourTable::look_up(const wire::Gid& gid, transport::Time now) {
  const auto found = entries_.find(gid);
  if (found == entries_.end()) {
    Entry* const entry = add(gid);
    if (entry == nullptr) return {Neighbour::State::unreachable, {}};
    ask(*entry, State::incomplete, now);
    return {Neighbour::State::asked, {}};
  }
  Entry& entry = found->second;
  if (entry.state == State::reachable && entry.due <= now) entry.state = State::stale;
  if (entry.state == State::stale) ask(entry, State::probe, now);
  if (entry.state == State::unreachable && entry.due <= now) ask(entry, State::incomplete, now);
  if (has_address(entry)) return {Neighbour::State::known, entry.mac};
  return {entry.state == State::incomplete ? Neighbour::State::asked : Neighbour::State::unreachable, {}};
}

// RFC 4861 7.2.5, and 7.2.3 for solicitations; RFC 826 merges both kinds.
void NeighbourTable::hear(const wire::Gid& gid, const wire::MacAddress& mac, const News& news,
                          transport::Time now) {
  const auto found = entries_.find(gid);
  Entry* entry = found != entries_.end() ? &found->second : nullptr;
  if (entry == nullptr && news.add) entry = add(gid);
  if (entry == nullptr) return;
  if (news.solicited && !has_address(*entry)) return confirm(*entry, mac, now);
  if (!has_address(*entry)) {
    entry->mac = mac;
    entry->state = State::stale;
    return;
  }
  if (entry->mac != mac && !news.overrides) {
    if (entry->state == State::reachable) entry->state = State::stale;
    return;
  }
  if (news.solicited) return confirm(*entry, mac, now);
  if (entry->mac == mac) return;
  entry->mac = mac;
  entry->state = State::stale;
}

std::vector<NeighbourTable::Question> NeighbourTable::take_questions(transport::Time now) {
  std::vector<Question> questions;
  for (auto& [gid, entry] : entries_) {
    if (!is_asked(entry) || entry.due > now) continue;
    if (entry.tries_left == 0) {
      entry.state = State::unreachable;
      entry.due = now + times_.unreachable;
      continue;
    }
    --entry.tries_left;
    entry.due = now + times_.retry;
    questions.push_back({gid, entry.state == State::probe ? std::optional(entry.mac) : std::nullopt});
  }
  return questions;
}

std::optional<transport::Time> NeighbourTable::next_due() const {
  std::optional<transport::Time> next;
  for (const auto& [gid, entry] : entries_) {
    if (is_asked(entry) && (!next || entry.due < *next)) next = entry.due;
  }
  return next;
}

}  // namespace urnic::link
