// Values by the 24-bit number of a queue. The lower bits of such numbers are indices of tables, so they are
// nearly their own places here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace urnic::engine::mlx5 {

template <typename Value>
class NumberTable {
 public:
  // Replaces a value that the number has. Allocates.
  void set(std::uint32_t number, const Value& value) {
    if ((count_ + 1) * 2 > entries_.size()) grow();
    Entry& entry = entries_[place_of(number)];
    if (entry.number == kNone) ++count_;
    entry = {number, value};
  }

  void remove(std::uint32_t number) {
    if (entries_.empty()) return;
    std::size_t hole = place_of(number);
    if (entries_[hole].number == kNone) return;
    --count_;
    // Entries behind it that would not be found past a hole move up.
    for (std::size_t at = after(hole); entries_[at].number != kNone; at = after(at)) {
      const std::size_t home = entries_[at].number & mask();
      if (((at - home) & mask()) < ((at - hole) & mask())) continue;
      entries_[hole] = entries_[at];
      hole = at;
    }
    entries_[hole].number = kNone;
  }

  // Null if the number has none.
  const Value* find(std::uint32_t number) const {
    if (entries_.empty()) return nullptr;
    const Entry& entry = entries_[place_of(number)];
    return entry.number == kNone ? nullptr : &entry.value;
  }

  bool empty() const { return count_ == 0; }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;
  struct Entry {
    std::uint32_t number = kNone;
    Value value{};
  };

  std::size_t mask() const { return entries_.size() - 1; }
  std::size_t after(std::size_t place) const { return (place + 1) & mask(); }
  // Where the number is, or would go. At least half of the places are free.
  std::size_t place_of(std::uint32_t number) const {
    std::size_t place = number & mask();
    while (entries_[place].number != number && entries_[place].number != kNone) place = after(place);
    return place;
  }
  void grow() {
    std::vector<Entry> before(entries_.empty() ? 16 : entries_.size() * 2);
    before.swap(entries_);
    for (const Entry& entry : before) {
      if (entry.number != kNone) entries_[place_of(entry.number)] = entry;
    }
  }

  std::vector<Entry> entries_;  // a power of two
  std::size_t count_ = 0;
};

}  // namespace urnic::engine::mlx5
