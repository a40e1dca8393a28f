// Tag matching of an SRQ as the provider sees it.
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

// Finds the wr_id of a completion of tag matching (abi::is_tag_completion) and gives back what it is about.
// Under the lock of the SRQ's receives.
void settle_tag_completion(Srq& srq, const abi::Cqe& cqe, Completion& completion);

void free_tag_matching(TagMatching* tags);

}  // namespace urnic::provider
