#include "device_model/memory/device_bytes.hpp"

#include <atomic>
#include <cstdint>

#include "device_model/memory/whole_words.hpp"

namespace urnic::memory {

std::byte* DeviceBytes::reach(const Transfer& transfer) const {
  const std::uint64_t size = bytes_.size();
  if (transfer.address > size || transfer.local.size() > size - transfer.address) return nullptr;
  return bytes_.data() + transfer.address;
}

void DeviceBytes::read(std::span<Transfer> batch) {
  for (Transfer& transfer : batch) {
    std::byte* const place = reach(transfer);
    transfer.failed = place == nullptr;
    if (!transfer.failed) load_words(transfer.local.data(), place, transfer.local.size());
  }
}

// Transfers become visible in the order of the batch: a program that sees the last word of a message finds
// the rest.
void DeviceBytes::write(std::span<Transfer> batch) {
  for (Transfer& transfer : batch) {
    std::byte* const place = reach(transfer);
    transfer.failed = place == nullptr;
    if (transfer.failed) continue;
    std::atomic_thread_fence(std::memory_order_release);
    store_words(place, transfer.local.data(), transfer.local.size());
  }
}

}  // namespace urnic::memory
