// Work queues, and the indirection tables that spread frames over them. To the device, a work queue is a raw
// packet queue pair that never sends, and a table is a part of the request for an RSS queue pair.
#pragma once

#include <atomic>
#include <cstdint>

#include "device_model/abi/steering_messages.hpp"
#include "provider/plugin/objects/qp.hpp"

namespace urnic::provider {

struct Wq {
  ibv_wq verbs;  // first: the library hands out its address
  Qp* queue;
  std::atomic<std::uint32_t> users;  // table entries that name this queue
};

inline Wq& wq_of(ibv_wq* wq) { return *reinterpret_cast<Wq*>(wq); }

struct IndirectionTable {
  ibv_rwq_ind_table verbs;           // first: the library hands out its address
  std::atomic<std::uint32_t> users;  // RSS queue pairs
  std::uint32_t size;                // a power of two
  Wq* queues[abi::kMaxRssQueues];
};

inline IndirectionTable& indirection_table_of(ibv_rwq_ind_table* table) {
  return *reinterpret_cast<IndirectionTable*>(table);
}

}  // namespace urnic::provider
