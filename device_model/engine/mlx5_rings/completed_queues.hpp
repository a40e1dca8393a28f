// What CQEs of a context call its queues. A CQE has a queue's *user index*, which the library has chosen when
// it created the queue, and of a send the block at which its WQE began.
#pragma once

#include <cstdint>

#include "device_model/engine/mlx5_rings/number_table.hpp"
#include "device_model/engine/mlx5_rings/send_ring.hpp"
#include "wire/identifiers.hpp"

namespace urnic::engine::mlx5 {

struct CompletedQueue {
  std::uint32_t user_index = 0;
  const SendRing* sends = nullptr;  // null: the queue has none
};

// One for each context; all its CQs share it and it outlives them. Engine thread only: whoever installs a
// queue pair adds it in the same task, and removes it in the task that removes the queue pair.
class CompletedQueues {
 public:
  // QPs and receive WQs, also those that take from an SRQ.
  void add(wire::Qpn qpn, const CompletedQueue& queue) { queues_.set(qpn.value, queue); }
  void remove(wire::Qpn qpn) { queues_.remove(qpn.value); }
  const CompletedQueue* find(wire::Qpn qpn) const { return queues_.find(qpn.value); }

  // SRQs of an XRC domain: their CQEs have the SRQ's user index, since the QP may be another program's. Those
  // of other SRQs have the QP's (as libmlx5's get_resp_ctx_v1 resolves them).
  void add_xrc(std::uint32_t shared_receive_queue, std::uint32_t user_index) {
    xrc_.set(shared_receive_queue, user_index);
  }
  void remove_xrc(std::uint32_t shared_receive_queue) { xrc_.remove(shared_receive_queue); }
  const std::uint32_t* find_xrc(std::uint32_t shared_receive_queue) const {
    return xrc_.empty() ? nullptr : xrc_.find(shared_receive_queue);
  }

 private:
  NumberTable<CompletedQueue> queues_;
  NumberTable<std::uint32_t> xrc_;
};

}  // namespace urnic::engine::mlx5
