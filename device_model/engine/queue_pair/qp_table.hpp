// A device's queue pairs by number.
//
// A QPN is a table index with a generation above it, so that a packet for a QP that is gone does not hit the
// next one in its place. QPN 0 and 1 (management) and 0xFFFFFF (multicast) are never given out (IBTA 3.5.10).
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "device_model/memory/number_seed.hpp"
#include "wire/identifiers.hpp"

namespace urnic::engine {

class QpTable {
 public:
  // At most 2^20 queue pairs, so that some bits are left for the generation. `seed` says with which index the
  // numbers begin, and with which generation each index.
  explicit QpTable(std::uint32_t max_queue_pairs, memory::NumberSeed seed = {});

  // Any thread. Empty if all are in use.
  std::optional<wire::Qpn> reserve();
  void release(wire::Qpn qpn);

  // Engine thread only.
  void install(QueuePairContext& queue_pair) { entries_[index(queue_pair.qpn())] = &queue_pair; }
  void remove(const QueuePairContext& queue_pair) { entries_[index(queue_pair.qpn())] = nullptr; }
  // Null if there is none of this number.
  QueuePairContext* find(wire::Qpn qpn) const {
    QueuePairContext* const found = entries_[index(qpn)];
    return found != nullptr && found->qpn() == qpn ? found : nullptr;
  }
  // As QueuePairContext::prefetch, if there may be one of this number.
  void prefetch(wire::Qpn qpn) const {
    if (const QueuePairContext* const found = entries_[index(qpn)]) found->prefetch();
  }

 private:
  std::uint32_t index(wire::Qpn qpn) const {
    return qpn.value & (static_cast<std::uint32_t>(entries_.size()) - 1);
  }

  std::uint32_t index_bits_;
  std::vector<QueuePairContext*> entries_;  // a power of two

  std::mutex reservation_;
  std::uint32_t limit_;
  std::uint32_t in_use_ = 0;
  // Indices wait their turn in a ring, so that the one released last is used again last.
  std::vector<std::uint32_t> free_;
  std::uint32_t free_begin_ = 0;
  std::uint32_t free_count_ = 0;
  std::vector<std::uint32_t> generation_;
};

}  // namespace urnic::engine
