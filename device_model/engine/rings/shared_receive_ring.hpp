// The shared receive queue of urnic's own face (abi/queues.hpp, SharedReceiveIndices): a ring has the slot
// numbers in the order of posting.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "device_model/abi/queues.hpp"
#include "device_model/engine/rings/posted_shared_receives.hpp"
#include "device_model/engine/rings/slot_copies.hpp"

namespace urnic::engine {

struct SharedReceiveRingConfig {
  const std::byte* slots = nullptr;
  const std::uint32_t* posted = nullptr;  // the ring of slot numbers
  std::uint32_t slot_count = 0;           // of slots and ring; a power of two
  std::uint32_t slot_size = 0;            // at least a WQE's head
  const std::atomic<std::uint32_t>* producer = nullptr;
};

class SharedReceiveRing final : public PostedSharedReceives {
 public:
  // The memory outlives this.
  explicit SharedReceiveRing(const SharedReceiveRingConfig& config);

  Look next(std::uint32_t& slot) override;
  Look count(std::uint32_t& posted) override;
  void read(std::uint32_t slot, transport::ReceiveRequest& request) override;
  std::uint32_t slot_count() const override { return config_.slot_count; }

  // Switches to larger memory, to which the slots were copied; moves the ring's words itself.
  void grow(const std::byte* slots, std::uint32_t* posted, std::uint32_t slot_count);

 private:
  // Copies of the slots from `first` to the next entry's `first`: they stay in place when slots are added.
  struct Copies {
    std::uint32_t first;
    SlotCopies copies;
  };

  bool look();
  void add_copies(std::uint32_t first_slot, std::uint32_t slot_count);
  std::uint32_t room() const {
    return config_.slot_size - static_cast<std::uint32_t>(sizeof(abi::ReceiveWqe));
  }

  SharedReceiveRingConfig config_;
  std::uint32_t producer_ = 0;
  std::uint32_t taken_ = 0;
  std::vector<Copies> copies_;
};

}  // namespace urnic::engine
