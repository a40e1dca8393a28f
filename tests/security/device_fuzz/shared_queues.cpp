#include "tests/security/device_fuzz/shared_queues.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

namespace urnic::device_fuzz {
namespace {

constexpr std::size_t kMostRanges = 4096;

}  // namespace

void Targets::add(std::span<std::byte> range) {
  if (range.size() < sizeof(std::uint64_t)) return;
  const std::lock_guard lock(mutex_);
  if (ranges_.size() >= kMostRanges) ranges_.erase(ranges_.begin());
  ranges_.push_back(range);
}

std::span<std::byte> Targets::any(std::uint64_t random) {
  const std::lock_guard lock(mutex_);
  return ranges_.empty() ? std::span<std::byte>() : ranges_[random % ranges_.size()];
}

std::span<std::byte> SharedQueues::map(int descriptor, std::size_t length) {
  struct stat facts {};
  if (fstat(descriptor, &facts) != 0 || static_cast<std::size_t>(facts.st_size) < length) return {};
  void* const data = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (data == MAP_FAILED) return {};
  return {static_cast<std::byte*>(data), length};
}

void SharedQueues::look_in(const ControlReply& answer) {
  answer_ = &answer;
  next_descriptor_ = 0;
}

std::span<std::byte> SharedQueues::find(const abi::ArenaRange& range) {
  if (range.length == 0) return {};
  if (range.arena_is_new != 0 && next_descriptor_ < answer_->descriptors.size())
    arenas_[range.arena] = map(answer_->descriptors[next_descriptor_++].get(), range.arena_size);
  const auto arena = arenas_[range.arena];
  if (range.offset + range.length > arena.size()) return {};
  const auto found = arena.subspan(range.offset, range.length);
  targets_.add(found);
  return found;
}

}  // namespace urnic::device_fuzz
