// The provider's shared receive queue.
#pragma once

#include <atomic>
#include <cstdint>

#include "provider/plugin/connection/verbs_context.hpp"
#include "provider/plugin/queues/shared_receive_slots.hpp"
#include "provider/private_abi.hpp"

namespace urnic::provider {

struct TagMatching;

struct Srq {
  private_abi::Srq verbs;  // first: the library hands out its address
  Context* context;

  SharedReceiveSlots receive;
  TagMatching* tags;  // null: not a tag-matching SRQ

  std::atomic<std::uint32_t> async_events_read;
};

inline Srq& srq_of(ibv_srq* srq) { return *reinterpret_cast<Srq*>(srq); }

}  // namespace urnic::provider
