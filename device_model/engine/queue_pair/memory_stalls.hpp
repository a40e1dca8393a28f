// The queue pairs of an engine that wait for memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>

#include "device_model/engine/batch/action_list.hpp"
#include "device_model/engine/queue_pair/memory_stall.hpp"

namespace urnic::engine {

class MemoryStalls {
 public:
  // The most bytes that the QPs waiting for one memory hold together. A further QP's accesses fail at once.
  static constexpr std::size_t kMostBytes = 64 * 1024 * 1024;

  bool empty() const { return queues_.empty(); }
  std::uint32_t size() const;

  // Moves out of `list` the actions of QPs that access memory which may not answer. These QPs wait from now
  // on.
  void take_from(ActionList& list);
  // The stall of the next QP that resumes: its accesses are done or have failed; null: all wait.
  std::unique_ptr<MemoryStall> take_ended();
  // The queue pair's; null if it does not wait.
  std::unique_ptr<MemoryStall> take(const QueuePairContext& queue_pair);
  void drop(const QueuePairContext& queue_pair) { take(queue_pair); }
  // A QP that waits, or will wait, for these bytes of `memory`, or null.
  QueuePairContext* find(const memory::ApplicationMemory& memory, std::uint64_t address,
                         std::uint64_t length) const;

 private:
  // The stalls for one memory, in turn: the memory does one job at a time. Only the first is checked, so a
  // check costs the same however many QPs wait.
  struct Queue {
    explicit Queue(memory::WaitingMemory& waits_for) : memory(waits_for) {}

    memory::WaitingMemory& memory;
    std::deque<std::unique_ptr<MemoryStall>> stalls;
    std::size_t bytes = 0;
  };

  Queue& queue_for(memory::WaitingMemory& memory);
  std::unique_ptr<MemoryStall> take(std::list<Queue>::iterator queue, std::size_t stall);

  std::list<Queue> queues_;  // none is empty
};

}  // namespace urnic::engine
