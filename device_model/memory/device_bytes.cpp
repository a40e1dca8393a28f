#include "device_model/memory/device_bytes.hpp"

#include <atomic>

#include "device_model/memory/whole_words.hpp"

namespace urnic::memory {

void DeviceBytes::read(std::span<Transfer> batch) {
  for (Transfer& transfer : batch) {
    std::byte* const place = reach(bytes_, transfer.address, transfer.local.size());
    transfer.failed = place == nullptr;
    if (!transfer.failed) copy_words(transfer.local.data(), place, transfer.local.size(), place);
  }
}

// Transfers become visible in the order of the batch: a program that sees the last word of a message finds
// the rest.
void DeviceBytes::write(std::span<Transfer> batch) {
  for (Transfer& transfer : batch) {
    std::byte* const place = reach(bytes_, transfer.address, transfer.local.size());
    transfer.failed = place == nullptr;
    if (transfer.failed) continue;
    std::atomic_thread_fence(std::memory_order_release);
    copy_words(place, transfer.local.data(), transfer.local.size(), place);
  }
}

}  // namespace urnic::memory
