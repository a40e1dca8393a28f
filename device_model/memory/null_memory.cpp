#include "device_model/memory/null_memory.hpp"

#include <cstring>

namespace urnic::memory {

void NullMemory::read(std::span<Transfer> batch) {
  for (Transfer& transfer : batch) {
    if (!transfer.local.empty()) std::memset(transfer.local.data(), 0, transfer.local.size());
    transfer.failed = false;
  }
}

void NullMemory::write(std::span<Transfer> batch) {
  for (Transfer& transfer : batch) transfer.failed = false;
}

}  // namespace urnic::memory
