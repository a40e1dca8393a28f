// A device's queue pairs by number.
//
// A QPN is a table index with a generation above it, so that a packet for a destroyed QP does not reach the
// next QP at that index. A device with a low limit has no generations: drivers that keep queue pairs in a
// table of so many, by their numbers, as Linux's vmw_pvrdma does, find each number below the limit. QPN 0 and
// 1 (management) and 0xFFFFFF (multicast) are never used (IBTA 3.5.10).
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "device_model/memory/number_seed.hpp"
#include "wire/identifiers.hpp"

namespace urnic::engine {

class QueuePairContext;

class QpTable {
 public:
  // Fewer numbers than this are given out as they are. Two of them are the management queue pairs', so there
  // are two queue pairs less.
  static constexpr std::uint32_t kLeastWithGenerations = 1u << 16;

  // At most 2^20 queue pairs, so that some bits are left for the generation. `seed` chooses the first index
  // and each index's first generation.
  explicit QpTable(std::uint32_t max_queue_pairs, memory::NumberSeed seed = {});

  // How many queue pairs a table with this limit has.
  static std::uint32_t capacity(std::uint32_t max_queue_pairs);

  // Any thread. Empty if all are in use.
  std::optional<wire::Qpn> reserve();
  void release(wire::Qpn qpn);

  // Engine thread only.
  void install(QueuePairContext& queue_pair);
  void remove(const QueuePairContext& queue_pair);
  // Null if no QP has this number.
  QueuePairContext* find(wire::Qpn qpn) const;
  template <class Visit>
  void for_each(Visit visit) {
    for (QueuePairContext* const queue_pair : entries_)
      if (queue_pair != nullptr) visit(*queue_pair);
  }

 private:
  std::uint32_t index(wire::Qpn qpn) const {
    return qpn.value & (static_cast<std::uint32_t>(entries_.size()) - 1);
  }

  std::uint32_t index_bits_;
  std::uint32_t generations_;               // a power of two
  std::vector<QueuePairContext*> entries_;  // a power of two

  std::mutex reservation_;
  // A ring of free indices below the limit: the index released last is reused last.
  std::vector<std::uint32_t> free_;
  std::uint32_t free_begin_ = 0;
  std::uint32_t free_count_;
  std::vector<std::uint32_t> generation_;
};

}  // namespace urnic::engine
