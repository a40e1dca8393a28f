// The deadlines of all QPs of an engine: a binary heap with at most one entry per QP.
//
// A QP's deadline moves later with nearly every packet and is seldom reached. So an entry that has become too
// early stays where it is, and the QP is asked again when its turn comes.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "device_model/transport/time.hpp"

namespace urnic::engine {

class QueuePairContext;

// Where in the heap a QP's entry is; a member of the QP.
struct TimerPosition {
  static constexpr std::size_t kNone = ~std::size_t{0};
  std::size_t at = kNone;
};

class Timers {
 public:
  // Makes room for one more QP, so that nothing is allocated while packets move.
  void expect_one_more() {
    if (++expected_ > heap_.capacity()) heap_.reserve(2 * expected_);
  }
  void expect_one_less() { --expected_; }

  // `deadline` is what the QP wants now.
  void update(QueuePairContext& queue_pair, std::optional<transport::Time> deadline);
  void remove(QueuePairContext& queue_pair);

  // No QP wants to be called before this; empty if none wants to be called.
  std::optional<transport::Time> earliest() const;
  // Takes out a QP whose entry is due, or null. The caller asks it for its true deadline.
  QueuePairContext* take_due(transport::Time now);

 private:
  struct Entry {
    transport::Time time;
    QueuePairContext* queue_pair = nullptr;
  };
  void place(std::size_t at, const Entry& entry);
  void sift_up(std::size_t at, const Entry& entry);
  void sift_down(std::size_t at, const Entry& entry);
  void erase(std::size_t at);

  std::size_t expected_ = 0;
  std::vector<Entry> heap_;
};

}  // namespace urnic::engine
