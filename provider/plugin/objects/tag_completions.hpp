// The provider's side of an SRQ's tag matching.
#pragma once

#include <cstdint>

#include "provider/plugin/objects/cq.hpp"
#include "provider/plugin/objects/srq.hpp"
#include "provider/plugin/queues/tag_slots.hpp"

namespace urnic::provider {

// Guarded by the lock of the SRQ's receives.
struct TagMatching {
  TagSlots slots;
  std::uint32_t doorbell;
};

// For a CQE of tag matching (abi::is_tag_completion): sets the completion's tag members and wr_id, and frees
// the operation, entry or slot that it completes. Under the lock of the SRQ's receives.
void settle_tag_completion(Srq& srq, const abi::Cqe& cqe, Completion& completion);

// Frees `tags`, which may be null.
void free_tag_matching(TagMatching* tags);

}  // namespace urnic::provider
