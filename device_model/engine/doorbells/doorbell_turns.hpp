// Takes the doorbells of all contexts of an engine, one word at a time, contexts in turn: so a program that
// rings thousands of doorbells delays neither the engine's rounds nor other programs' doorbells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "device_model/transport/time.hpp"

namespace urnic::engine {

class ClockPages;
class DoorbellSet;
class UarPages;

// Engine thread only.
class DoorbellTurns {
 public:
  // Doorbells taken between two rounds of the data path; the last word may exceed it. So many QPs have more
  // to send than a round takes. A look takes far fewer doorbells that have no effect.
  static constexpr std::uint32_t kPerLook = 256;

  void add(DoorbellSet& set);
  void remove(DoorbellSet& set);
  void add(UarPages& pages) { pages_.push_back(&pages); }
  void remove(UarPages& pages) { std::erase(pages_, &pages); }

  void add(ClockPages& clock) { clocks_.push_back(&clock); }
  void remove(ClockPages& clock) { std::erase(clocks_, &clock); }

  // ClockPages::show of all clocks. To be called before anything else of a round: later times may be in them
  // afterwards.
  bool show_clocks();
  // Returns whether doorbells were taken, or are still waiting.
  bool look();
  // A doorbell has rung and is not taken.
  bool rung() const;

  // Around the engine's sleep: UarPages::going_to_sleep, look_again (the earliest) and awake, of all pages.
  void going_to_sleep(transport::Time now);
  std::optional<transport::Time> look_again() const;
  void awake(transport::Time now);
  // UarPages::wakes, of any of them.
  bool stores_wake() const;

 private:
  std::vector<DoorbellSet*> sets_;
  std::vector<UarPages*> pages_;
  std::vector<ClockPages*> clocks_;
  std::size_t attended_ = 0;  // counts the pages whose turn it was
  std::size_t next_ = 0;      // the next set in turn
};

}  // namespace urnic::engine
