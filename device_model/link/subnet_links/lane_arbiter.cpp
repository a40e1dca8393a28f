#include "device_model/link/subnet_links/lane_arbiter.hpp"

#include <algorithm>
#include <utility>

namespace urnic::link {
namespace {

constexpr std::size_t kWeightBytes = 64;
constexpr std::size_t kLimitBytes = 4096;

bool is_in(LaneSet lanes, std::uint8_t lane) { return (lanes >> lane & 1u) != 0; }

bool same(const std::vector<LaneWeight>& one, const std::vector<LaneWeight>& other) {
  return std::equal(
      one.begin(), one.end(), other.begin(), other.end(),
      [](const LaneWeight& a, const LaneWeight& b) { return a.lane == b.lane && a.weight == b.weight; });
}

}  // namespace

LaneArbiter::Table::Table(std::vector<LaneWeight> entries) : entries_(std::move(entries)) {
  std::erase_if(entries_, [](const LaneWeight& entry) {
    return entry.weight == 0 || entry.lane >= kDataLanes;  // an entry for VL 15 has no effect
  });
  for (const LaneWeight& entry : entries_) lanes_ = static_cast<LaneSet>(lanes_ | 1u << entry.lane);
  if (!entries_.empty()) left_ = weight_of(entries_[0]);
}

std::int64_t LaneArbiter::Table::weight_of(const LaneWeight& entry) {
  return static_cast<std::int64_t>(entry.weight * kWeightBytes);
}

std::optional<std::uint8_t> LaneArbiter::Table::choose(LaneSet ready) {
  if ((ready & lanes_) == 0) return {};
  while (left_ <= 0 || !is_in(ready, entries_[current_].lane)) {
    current_ = current_ + 1 == entries_.size() ? 0 : current_ + 1;
    left_ = weight_of(entries_[current_]);
  }
  return entries_[current_].lane;
}

// In whole units of weight.
void LaneArbiter::Table::charge(std::size_t bytes) {
  left_ -= static_cast<std::int64_t>((bytes + kWeightBytes - 1) / kWeightBytes * kWeightBytes);
}

void LaneArbiter::configure(const LidOutput& output) {
  if (output.high_limit == high_limit_ && same(output.high, high_entries_) && same(output.low, low_entries_))
    return;
  *this = LaneArbiter();
  high_entries_ = output.high;
  low_entries_ = output.low;
  high_ = Table(output.high);
  low_ = Table(output.low);
  high_limit_ = output.high_limit;
}

// 0: a single packet.
std::size_t LaneArbiter::limit_bytes() const { return std::max<std::size_t>(high_limit_ * kLimitBytes, 1); }

std::uint8_t LaneArbiter::choose(LaneSet ready) {
  const bool low_is_ready = (ready & low_.lanes()) != 0;
  // Nobody of low priority takes the turn that the limit leaves: the count begins anew.
  if (!high_may_send() && !low_is_ready) high_sent_ = 0;
  chosen_ = Priority::high;
  if (high_may_send()) {
    if (const auto lane = high_.choose(ready)) return *lane;
  }
  chosen_ = Priority::low;
  if (const auto lane = low_.choose(ready)) return *lane;
  chosen_ = Priority::none;
  do last_other_ = static_cast<std::uint8_t>((last_other_ + 1u) % kDataLanes);
  while (!is_in(ready, last_other_));
  return last_other_;
}

void LaneArbiter::charge(std::size_t bytes) {
  high_sent_ = chosen_ == Priority::high ? high_sent_ + bytes : 0;
  if (chosen_ == Priority::high) high_.charge(bytes);
  if (chosen_ == Priority::low) low_.charge(bytes);
}

}  // namespace urnic::link
