#include "device_model/engine/queue_pair/memory_stalls.hpp"

#include <algorithm>

#include "device_model/engine/queue_pair/queue_pair_context.hpp"

namespace urnic::engine {

std::uint32_t MemoryStalls::size() const {
  std::size_t count = 0;
  for (const Queue& queue : queues_) count += queue.stalls.size();
  return static_cast<std::uint32_t>(count);
}

MemoryStalls::Queue& MemoryStalls::queue_for(memory::WaitingMemory& memory) {
  const auto found = std::find_if(queues_.begin(), queues_.end(),
                                  [&](const Queue& queue) { return &queue.memory == &memory; });
  return found != queues_.end() ? *found : queues_.emplace_back(memory);
}

void MemoryStalls::take_from(ActionList& list) {
  for (std::uint32_t index = 0; index < list.memory.size(); ++index) {
    const MemoryAction& action = list.memory[index];
    if (action.kind == AccessKind::none) continue;
    memory::WaitingMemory* const memory = action.memory->waiting();
    if (memory == nullptr) continue;
    QueuePairContext& queue_pair = *action.stream->queue_pair;
    Queue& queue = queue_for(*memory);
    MemoryStall& stall = *queue.stalls.emplace_back(std::make_unique<MemoryStall>(queue_pair, list));
    queue_pair.stall(stall);
    queue.bytes += stall.bytes();
    if (queue.bytes > kMostBytes) stall.fail();
    if (queue.stalls.size() == 1) stall.advance();
  }
}

std::unique_ptr<MemoryStall> MemoryStalls::take_ended() {
  for (auto queue = queues_.begin(); queue != queues_.end(); ++queue) {
    if (queue->stalls.front()->advance()) return take(queue, 0);
  }
  return nullptr;
}

std::unique_ptr<MemoryStall> MemoryStalls::take(std::list<Queue>::iterator queue, std::size_t stall) {
  const auto place = queue->stalls.begin() + static_cast<std::ptrdiff_t>(stall);
  std::unique_ptr<MemoryStall> taken = std::move(*place);
  queue->stalls.erase(place);
  queue->bytes -= taken->bytes();
  if (queue->stalls.empty()) queues_.erase(queue);
  return taken;
}

std::unique_ptr<MemoryStall> MemoryStalls::take(const QueuePairContext& queue_pair) {
  for (auto queue = queues_.begin(); queue != queues_.end(); ++queue) {
    const auto& stalls = queue->stalls;
    const auto found = std::find_if(stalls.begin(), stalls.end(),
                                    [&](const auto& stall) { return &stall->queue_pair() == &queue_pair; });
    if (found != stalls.end()) return take(queue, static_cast<std::size_t>(found - stalls.begin()));
  }
  return nullptr;
}

QueuePairContext* MemoryStalls::find(const memory::ApplicationMemory& memory, std::uint64_t address,
                                     std::uint64_t length) const {
  for (const Queue& queue : queues_) {
    for (const auto& stall : queue.stalls) {
      if (stall->touches(memory, address, length)) return &stall->queue_pair();
    }
  }
  return nullptr;
}

}  // namespace urnic::engine
