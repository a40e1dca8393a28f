// The deadlines of all QPs of an engine: a binary heap with at most one entry per QP.
//
// Nearly every packet moves a QP's deadline later or clears it, and few deadlines are reached. So the
// deadline is stored beside the heap, and an entry that is too early is corrected when its time comes.
//
// Stored outside of the QPs: with thousands of them each move of an entry would wait for main memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "device_model/transport/time.hpp"

namespace urnic::engine {

class QueuePairContext;

// A QP's own timer.
enum class TimerId : std::uint32_t {};

class Timers {
 public:
  // Adds a disarmed timer, with room for it in the heap: no allocation while packets move.
  TimerId add(QueuePairContext& queue_pair);
  void remove(TimerId timer);

  // Sets when the QP is to be called; empty: not at all.
  void set(TimerId timer, std::optional<transport::Time> deadline);

  // No timer expires before this; empty if none is armed.
  std::optional<transport::Time> earliest() const;
  // How many timers are armed.
  std::uint32_t armed() const;
  // A QP whose timer has expired, or null. Disarms the timer.
  QueuePairContext* take_due(transport::Time now);

 private:
  static constexpr std::uint32_t kNotInHeap = ~std::uint32_t{0};
  static constexpr transport::Time kNever = transport::Time::max();

  struct Timer {
    QueuePairContext* queue_pair = nullptr;  // null: free
    transport::Time deadline = kNever;
    std::uint32_t at = kNotInHeap;
  };
  struct Entry {
    transport::Time time;  // not later than the deadline
    std::uint32_t timer = 0;
  };

  void place(std::uint32_t at, const Entry& entry);
  void sift_up(std::uint32_t at, const Entry& entry);
  void sift_down(std::uint32_t at, const Entry& entry);
  void erase(std::uint32_t at);

  std::vector<Timer> timers_;  // by TimerId
  std::vector<std::uint32_t> free_;
  std::vector<Entry> heap_;
};

}  // namespace urnic::engine
