#include "device_model/engine/receives/tag_list.hpp"

namespace urnic::engine {

TagList::TagList(std::uint32_t entries, std::uint32_t max_sges)
    : entries_(entries),
      max_sges_(max_sges),
      copies_(entries, max_sges * static_cast<std::uint32_t>(sizeof(transport::Sge))) {}

bool TagList::add(std::uint32_t number, std::uint64_t tag, std::uint64_t mask, const std::byte* sges,
                  std::uint32_t sge_count, bool waits) {
  if (number >= entries_.size() || sge_count > max_sges_) return false;
  Entry& entry = entries_[number];
  if (entry.state != State::free) return false;
  entry = {.tag = tag,
           .mask = mask,
           .next = kNone,
           .previous = last_,
           .state = State::listed,
           .length = 0,
           .sges = copies_.copy_gather_list(number, sges, sge_count)};
  for (const transport::Sge& sge : entry.sges) entry.length += sge.length;
  (last_ == kNone ? first_ : entries_[last_].next) = number;
  last_ = number;
  if (waits && first_waiting_ == kNone) first_waiting_ = number;
  return true;
}

void TagList::unlink(std::uint32_t number) {
  const Entry& entry = entries_[number];
  if (first_waiting_ == number) first_waiting_ = entry.next;
  (entry.previous == kNone ? first_ : entries_[entry.previous].next) = entry.next;
  (entry.next == kNone ? last_ : entries_[entry.next].previous) = entry.previous;
}

bool TagList::remove(std::uint32_t number) {
  if (number >= entries_.size() || entries_[number].state != State::listed) return false;
  unlink(number);
  release(number);
  return true;
}

std::optional<std::uint32_t> TagList::match(std::uint64_t tag) {
  for (std::uint32_t number = first_; number != first_waiting_; number = entries_[number].next) {
    if ((tag & entries_[number].mask) != entries_[number].tag) continue;
    unlink(number);
    entries_[number].state = State::matched;
    return number;
  }
  return std::nullopt;
}

}  // namespace urnic::engine
