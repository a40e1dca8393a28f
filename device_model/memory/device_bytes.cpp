#include "device_model/memory/device_bytes.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

namespace urnic::memory {
namespace {

constexpr std::size_t kWord = sizeof(std::uint64_t);

std::uint64_t* word_at(std::byte* place) { return reinterpret_cast<std::uint64_t*>(place); }

// The bytes in front of the first whole word of `place`.
std::size_t head_of(const std::byte* place, std::size_t length) {
  return std::min(length, (kWord - reinterpret_cast<std::uintptr_t>(place) % kWord) % kWord);
}

// A program reads and writes these words meanwhile. Loads and stores of whole words keep them from being
// torn; memcpy promises nothing of the kind.
void store_words(std::byte* to, const std::byte* from, std::size_t length) {
  const std::size_t head = head_of(to, length);
  std::memcpy(to, from, head);
  std::size_t done = head;
  for (; length - done >= kWord; done += kWord) {
    std::uint64_t word;
    std::memcpy(&word, from + done, kWord);
    std::atomic_ref(*word_at(to + done)).store(word, std::memory_order_relaxed);
  }
  std::memcpy(to + done, from + done, length - done);
}

void load_words(std::byte* to, std::byte* from, std::size_t length) {
  const std::size_t head = head_of(from, length);
  std::memcpy(to, from, head);
  std::size_t done = head;
  for (; length - done >= kWord; done += kWord) {
    const std::uint64_t word = std::atomic_ref(*word_at(from + done)).load(std::memory_order_relaxed);
    std::memcpy(to + done, &word, kWord);
  }
  std::memcpy(to + done, from + done, length - done);
}

}  // namespace

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
