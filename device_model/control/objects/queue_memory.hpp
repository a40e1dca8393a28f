// Memory of a program in which a queue lies.
#pragma once

namespace urnic::control {

// Destroyed after the engine's part of the queue: then the program may have its memory back.
class QueueMemory {
 public:
  QueueMemory() = default;
  QueueMemory(const QueueMemory&) = delete;
  QueueMemory& operator=(const QueueMemory&) = delete;
  virtual ~QueueMemory() = default;
};

}  // namespace urnic::control
