// Where a queue lies, for a face of the device whose programs make its memory: control/mlx5.
#pragma once

namespace urnic::control {

// Destroyed after the engine's part of the queue: then the program may have its memory back.
class QueuePlace {
 public:
  QueuePlace() = default;
  QueuePlace(const QueuePlace&) = delete;
  QueuePlace& operator=(const QueuePlace&) = delete;
  virtual ~QueuePlace() = default;
};

}  // namespace urnic::control
