#include "device_model/in_process/in_process_memory.hpp"

#include <cstdint>
#include <cstring>

namespace urnic::memory {

void InProcessMemory::add_range(std::span<std::byte> bytes, bool read_only) {
  ranges_.push_back({bytes, read_only});
}

void InProcessMemory::remove_range(std::span<std::byte> bytes) {
  std::erase_if(ranges_, [&](const Range& range) { return range.bytes.data() == bytes.data(); });
}

std::byte* InProcessMemory::reach(const Transfer& transfer, bool to_write) const {
  for (const Range& range : ranges_) {
    const auto begin = reinterpret_cast<std::uintptr_t>(range.bytes.data());
    if (transfer.address < begin || (to_write && range.read_only)) continue;
    const std::uint64_t offset = transfer.address - begin;
    if (offset > range.bytes.size() || transfer.local.size() > range.bytes.size() - offset) continue;
    return range.bytes.data() + offset;
  }
  return nullptr;
}

void InProcessMemory::end_owner() {
  ranges_.clear();
  ended_ = true;
}

void InProcessMemory::read(std::span<Transfer> batch) {
  for (Transfer& transfer : batch) {
    const std::byte* source = transfer.local.empty() ? nullptr : reach(transfer, false);
    transfer.failed = !transfer.local.empty() && source == nullptr;
    if (source != nullptr) std::memmove(transfer.local.data(), source, transfer.local.size());
  }
}

void InProcessMemory::write(std::span<Transfer> batch) {
  for (Transfer& transfer : batch) {
    std::byte* target = transfer.local.empty() ? nullptr : reach(transfer, true);
    transfer.failed = !transfer.local.empty() && target == nullptr;
    if (target != nullptr) std::memmove(target, transfer.local.data(), transfer.local.size());
  }
}

}  // namespace urnic::memory
