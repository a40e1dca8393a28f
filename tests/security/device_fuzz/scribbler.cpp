#include "tests/security/device_fuzz/scribbler.hpp"

#include <algorithm>
#include <chrono>

namespace urnic::device_fuzz {
namespace {

// Pause between writes, so that many posted requests are still valid when the device reads them.
constexpr std::chrono::microseconds kPause{300};
constexpr std::size_t kMostWords = 64;

std::atomic_ref<std::uint64_t> word(std::span<std::byte> range, std::size_t index) {
  return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(range.data() + index * sizeof(std::uint64_t)));
}

}  // namespace

Scribbler::Scribbler(Targets& targets, Counts& counts, std::uint64_t seed)
    : targets_(targets), counts_(counts), chance_(seed), thread_([this] { run(stop_); }) {}

Scribbler::~Scribbler() {
  stop_ = true;
  thread_.join();
}

void Scribbler::run(const std::atomic<bool>& stop) {
  while (!stop) {
    const auto range = targets_.any(chance_.number());
    if (range.size() >= sizeof(std::uint64_t)) scribble(range);
    std::this_thread::sleep_for(kPause * chance_.below(8));
  }
}

void Scribbler::scribble(std::span<std::byte> range) {
  const std::size_t words = range.size() / sizeof(std::uint64_t);
  const std::size_t first = chance_.below(words);
  const std::size_t count = std::min<std::size_t>(words - first, chance_.from(1, kMostWords));
  const std::uint32_t way = chance_.below(6);
  for (std::size_t i = first; i < first + count; ++i) {
    auto place = word(range, i);
    if (way == 0) place = chance_.number();
    if (way == 1) place += chance_.below(64);  // an index that runs ahead
    if (way == 2) place ^= std::uint64_t{1} << chance_.below(64);
    if (way == 3) place = 0;
    if (way == 4) place = ~std::uint64_t{0};
    if (way == 5) place = chance_.below(4);
  }
  counts_.scribbled += count;
}

}  // namespace urnic::device_fuzz
