// Whether one queue pair has been sending alone for a while. Then no other one's message is likely to wait
// for the end of a round, and rounds may be longer.
#pragma once

#include <cstddef>

namespace urnic::engine {

class QueuePairContext;

class SoleSender {
 public:
  // `queue_pair`, which is only compared and may be gone later, sends about this much.
  void sends(const QueuePairContext& queue_pair, std::size_t bytes) {
    if (latest_ != &queue_pair) bytes_ = 0;
    latest_ = &queue_pair;
    bytes_ += bytes;
  }
  bool lasts() const { return bytes_ >= kWhile; }

 private:
  // Dozens of rounds: two queue pairs that exchange messages take turns more often.
  static constexpr std::size_t kWhile = 4 * 1024 * 1024;

  const QueuePairContext* latest_ = nullptr;
  std::size_t bytes_ = 0;  // since another one sent
};

}  // namespace urnic::engine
