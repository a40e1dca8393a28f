// Memory of the device itself, which programs have mapped as well (ibv_alloc_dm(3)). Addresses are offsets
// from its beginning.
#pragma once

#include <cstddef>
#include <span>

#include "device_model/memory/process_memory.hpp"

namespace urnic::memory {

class DeviceBytes final : public ApplicationMemory {
 public:
  // `bytes` must outlive this object, begin at an address that is divisible by 8, and be memory whose access
  // cannot fail.
  explicit DeviceBytes(std::span<std::byte> bytes) : bytes_(bytes) {}

  // Aligned 8-byte words are not torn. A transfer that goes beyond the bytes fails.
  void read(std::span<Transfer> batch) override;
  void write(std::span<Transfer> batch) override;
  const char* way() const override { return "device memory"; }

 private:
  std::span<std::byte> bytes_;
};

}  // namespace urnic::memory
