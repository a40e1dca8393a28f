// Which virtual lane of a port sends next (IBTA 7.6.9): weighted round robin by two tables, of which the one
// of high priority goes first as far as its limit lets it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "device_model/link/lid_output.hpp"

namespace urnic::link {

// Lanes by their bits.
using LaneSet = std::uint16_t;

class LaneArbiter {
 public:
  // Allocates. Begins anew if something is different.
  void configure(const LidOutput& output);

  // One of `ready`, which is not empty. A lane that no table names sends when no other one is ready, in turn
  // with its like: so it is where a manager has written no tables. The specification lets it starve.
  std::uint8_t choose(LaneSet ready);
  // The chosen lane sends a packet of `bytes`.
  void charge(std::size_t bytes);

 private:
  enum class Priority : std::uint8_t { high, low, none };  // none: of a lane that no table names

  // A packet is sent while the entry has weight left, however long it is (7.6.9.2).
  class Table {
   public:
    explicit Table(std::vector<LaneWeight> entries = {});
    std::optional<std::uint8_t> choose(LaneSet ready);
    void charge(std::size_t bytes);
    LaneSet lanes() const { return lanes_; }

   private:
    static std::int64_t weight_of(const LaneWeight& entry);

    std::vector<LaneWeight> entries_;  // with a weight
    LaneSet lanes_ = 0;
    std::size_t current_ = 0;
    std::int64_t left_ = 0;  // of the current entry's weight, in bytes
  };

  bool high_may_send() const { return high_limit_ == kNoLimit || high_sent_ < limit_bytes(); }
  std::size_t limit_bytes() const;

  static constexpr std::uint8_t kNoLimit = 255;

  std::vector<LaneWeight> high_entries_;
  std::vector<LaneWeight> low_entries_;
  Table high_;
  Table low_;
  std::uint8_t high_limit_ = 0;
  std::size_t high_sent_ = 0;  // bytes since lanes of low priority had their turn, which they may not need
  std::uint8_t last_other_ = 0;
  Priority chosen_ = Priority::none;
};

}  // namespace urnic::link
