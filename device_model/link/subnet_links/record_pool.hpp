// Records that are allocated once and named by numbers.
#pragma once

#include <cstdint>
#include <vector>

namespace urnic::link {

inline constexpr std::uint32_t kNoRecord = 0xFFFFFFFF;

template <class Record>
class RecordPool {
 public:
  // Allocates here and never again.
  explicit RecordPool(std::uint32_t capacity) : records_(capacity) { free_.reserve(capacity); }

  // kNoRecord: all are in use.
  std::uint32_t take(const Record& record) {
    std::uint32_t number = kNoRecord;
    if (!free_.empty()) {
      number = free_.back();
      free_.pop_back();
    } else if (touched_ < records_.size()) {
      number = touched_++;
    } else {
      return kNoRecord;
    }
    records_[number] = record;
    return number;
  }
  bool is_full() const { return in_use() == records_.size(); }
  void give(std::uint32_t number) { free_.push_back(number); }

  Record& operator[](std::uint32_t number) { return records_[number]; }
  const Record& operator[](std::uint32_t number) const { return records_[number]; }
  std::uint32_t in_use() const { return touched_ - static_cast<std::uint32_t>(free_.size()); }

 private:
  std::vector<Record> records_;
  std::uint32_t touched_ = 0;  // records that were used at least once
  std::vector<std::uint32_t> free_;
};

}  // namespace urnic::link
