// Nobody's memory (ibv_alloc_null_mr(3)): reads as zeros at every address, forgets what is written.
#pragma once

#include "device_model/memory/process_memory.hpp"

namespace urnic::memory {

class NullMemory final : public ApplicationMemory {
 public:
  void read(std::span<Transfer> batch) override;
  void write(std::span<Transfer> batch) override;
  const char* way() const override { return "nowhere"; }
};

}  // namespace urnic::memory
