// Writes nonsense into the memory shared with the device, while the device reads it.
#pragma once

#include <atomic>
#include <thread>

#include "tests/security/device_fuzz/chance.hpp"
#include "tests/security/device_fuzz/counts.hpp"
#include "tests/security/device_fuzz/shared_queues.hpp"

namespace urnic::device_fuzz {

class Scribbler {
 public:
  // Its thread runs until the process ends.
  Scribbler(Targets& targets, Counts& counts, std::uint64_t seed);
  ~Scribbler();

 private:
  void run(const std::atomic<bool>& stop);
  void scribble(std::span<std::byte> range);

  Targets& targets_;
  Counts& counts_;
  Chance chance_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace urnic::device_fuzz
