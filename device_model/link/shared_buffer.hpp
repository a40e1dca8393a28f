// The memory of a switch, in bytes of frames, which the queues towards all its ports share by dynamic
// thresholds (Choudhury and Hahne, 1998): a queue may hold at most `alpha` times what is free of the whole.
// So a queue that is alone gets much, several get less each, and something is left for one that begins.
#pragma once

#include <cstdint>
#include <vector>

#include "device_model/link/egress_queue.hpp"
#include "device_model/transport/time.hpp"

namespace urnic::link {

struct SharedBufferSettings {
  std::uint64_t bytes = 0;  // 0: no limit but each queue's own
  double alpha = 1;

  friend bool operator==(const SharedBufferSettings&, const SharedBufferSettings&) = default;
};

// One engine's thread uses it with its queues.
class SharedBuffer {
 public:
  void configure(const SharedBufferSettings& settings) { settings_ = settings; }
  const SharedBufferSettings& settings() const { return settings_; }
  bool limits() const { return settings_.bytes != 0; }

  // From now on `queue` shares the memory. It outlives its use, and stays in its place.
  void add(EgressQueue& queue) { queues_.push_back(&queue); }

  // What all queues hold. Each is asked, because a queue learns only when it is asked what has left it.
  std::uint64_t used(transport::Time now) const {
    std::uint64_t sum = 0;
    for (EgressQueue* const queue : queues_) sum += queue->bytes(now);
    return sum;
  }

  // Whether `queue`, one of those, may take a packet of `bytes`: afterwards it holds no more than it may.
  bool has_room(EgressQueue& queue, transport::Time now, std::uint32_t bytes) const {
    const std::uint64_t then = used(now) + bytes;
    if (then > settings_.bytes) return false;
    const auto free = static_cast<double>(settings_.bytes - then);
    return static_cast<double>(queue.bytes(now) + bytes) <= settings_.alpha * free;
  }

 private:
  SharedBufferSettings settings_;
  std::vector<EgressQueue*> queues_;
};

}  // namespace urnic::link
