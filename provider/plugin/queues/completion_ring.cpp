#include "provider/plugin/queues/completion_ring.hpp"

#include <cstddef>
#include <cstring>

#include "device_model/abi/tag_matching_ring.hpp"

namespace urnic::provider {
namespace {

// Copies all but the phase, which belongs to the slot and not to the completion.
void copy_completion(abi::Cqe& to, const abi::Cqe& from) {
  std::memcpy(static_cast<void*>(&to), static_cast<const void*>(&from), offsetof(abi::Cqe, phase));
}

}  // namespace

void CompletionRing::remove_completions_of(std::uint32_t qpn, void (*removed_one)(void* by, const abi::Cqe&),
                                           void* by) {
  std::uint32_t end = consumer_;
  while (end - consumer_ < entries_ && is_valid(end)) ++end;
  // From the newest CQE to the oldest: a CQE that stays moves towards the newest, over the removed ones. So
  // the device's producer index stays right, and the consumer index skips the freed slots.
  std::uint32_t removed = 0;
  for (std::uint32_t index = end; index != consumer_;) {
    --index;
    if (at(index).qpn == qpn && !abi::is_tag_completion(at(index))) {
      ++removed;
      if (removed_one != nullptr) removed_one(by, at(index));
    } else if (removed != 0) {
      copy_completion(at(index + removed), at(index));
    }
  }
  consumer_ += removed;
  publish();
}

}  // namespace urnic::provider
