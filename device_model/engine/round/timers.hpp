// The deadlines of all QPs of an engine: a binary heap with at most one entry per QP.
//
// A QP's deadline moves later or goes away with nearly every packet and is seldom reached. So what is wanted
// is written down beside the heap, and an entry that has become too early is put right when its time comes.
//
// None of this lies in the QPs: with thousands of them each move of an entry would wait for main memory.
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
  // A timer for one more QP, with room for it, so that nothing is allocated while packets move. It is
  // disarmed.
  TimerId add(QueuePairContext& queue_pair);
  void remove(TimerId timer);

  // When the QP wants to be called now; empty: not at all.
  void set(TimerId timer, std::optional<transport::Time> deadline);

  // No QP wants to be called before this; empty if none wants to be called.
  std::optional<transport::Time> earliest() const;
  // How many QPs want to be called.
  std::uint32_t armed() const;
  // A QP whose deadline is due, or null. Its timer is disarmed.
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
