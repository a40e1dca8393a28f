// The shared receive queue that libmlx5 drives: a list through numbered slots, whose front the program and
// the device take in the same order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "device_model/abi/mlx5/doorbell_record.hpp"
#include "device_model/engine/rings/posted_shared_receives.hpp"

namespace urnic::engine::mlx5 {

struct SharedReceiveRingConfig {
  const std::byte* slots = nullptr;
  std::uint32_t slot_count = 0;  // at most kMostSharedSlots
  std::uint32_t stride = 32;     // a multiple of 16, at least a head
  const abi::mlx5::SharedBig32* producer = nullptr;
};

// So that a producer index, which has 16 bits, says how many WQEs are posted.
inline constexpr std::uint32_t kMostSharedSlots = 32768;

class SharedReceiveRing final : public PostedSharedReceives {
 public:
  // The memory outlives this.
  explicit SharedReceiveRing(const SharedReceiveRingConfig& config);

  // A program may link the slots as it likes, also in circles: each look follows one link.
  Look next(std::uint32_t& slot) override;
  Look count(std::uint32_t& posted) override;
  void read(std::uint32_t slot, transport::ReceiveRequest& request) override;
  std::uint32_t slot_count() const override { return config_.slot_count; }

 private:
  bool look();
  const std::byte* at(std::uint32_t slot) const { return config_.slots + std::size_t{slot} * config_.stride; }

  SharedReceiveRingConfig config_;
  std::uint16_t producer_ = 0;
  std::uint16_t taken_ = 0;
  std::uint32_t front_ = 0;  // the slot to take next: any number
  std::unique_ptr<std::byte[]> copies_;
};

}  // namespace urnic::engine::mlx5
