#include "device_model/control/objects/arena_allocator.hpp"

#include <fcntl.h>
#include <linux/mman.h>  // MADV_POPULATE_WRITE, before glibc 2.35

#include <algorithm>
#include <bit>
#include <cstring>
#include <system_error>
#include <thread>

#include "device_model/memory/sealed_memory.hpp"

namespace urnic::control {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kSmallestBlock = 128;  // two cache lines: what the index blocks need
constexpr std::uint64_t kSmallestArena = 256 * 1024;
constexpr std::uint64_t kLargestArenaStep = 32 * 1024 * 1024;
// Bytes that an arena is populated with, or a block is zeroed, at once: takes the kernel up to 0.3 ms.
constexpr std::uint64_t kPopulatedAtOnce = 64 * 1024;
// From this size a thread of its own frees memory: the kernel takes 0.2 ms for each MiB.
constexpr std::uint64_t kGivenBackElsewhere = 4 * 1024 * 1024;

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

[[noreturn]] void out_of_memory(const char* what) {
  throw std::system_error(ENOMEM, std::generic_category(), what);
}

}  // namespace

// Only the control thread gives charges back.
ArenaAllocator::ArenaAllocator(std::uint64_t limit, std::uint32_t first_number)
    : first_number_(first_number), limit_(limit) {}

ArenaAllocator::ArenaAllocator(std::uint64_t limit, std::shared_ptr<Account> account)
    : first_number_(0), limit_(limit), account_(std::move(account)) {}

int ArenaAllocator::descriptor(std::uint32_t arena) const {
  return arenas_.at(arena - first_number_)->descriptor.get();
}

std::uint64_t ArenaAllocator::size(std::uint32_t arena) const {
  return arenas_.at(arena - first_number_)->mapping.size();
}

ArenaAllocator::~ArenaAllocator() {
  preparations_.clear();
  for (const auto& arena : arenas_) arena->charge = Charge();
  if (total_ < kGivenBackElsewhere) return;
  try {
    std::thread([arenas = std::move(arenas_)] {}).detach();
  } catch (const std::system_error&) {
    // No thread is possible: frees it here.
  }
}

ArenaBlock ArenaAllocator::allocate(std::uint64_t length) {
  if (length == 0) return {};
  if (length > limit_) out_of_memory("queue memory");
  length = round_up(length, kSmallestBlock);
  const auto prepared = std::find_if(preparations_.begin(), preparations_.end(), [length](const auto& known) {
    return known.ready() && known.block.length() == length;
  });
  if (prepared != preparations_.end()) {
    ArenaBlock block = std::move(prepared->block);
    preparations_.erase(prepared);
    return block;
  }
  Preparation preparation = reserve(length);
  while (!preparation.ready()) go_on(preparation);
  return std::move(preparation.block);
}

bool ArenaAllocator::prepare(std::initializer_list<std::uint64_t> lengths) {
  std::vector<const Preparation*> found;
  try {
    for (const std::uint64_t length : lengths) {
      if (length <= kPopulatedAtOnce) continue;
      if (length > limit_) out_of_memory("queue memory");
      Preparation& preparation = preparation_of(round_up(length, kSmallestBlock), found);
      if (preparation.ready()) continue;
      go_on(preparation);
      return false;
    }
  } catch (...) {
    preparations_.clear();
    throw;
  }
  return true;
}

// A preparation of this length that is not in `found`; adds it to `found`.
ArenaAllocator::Preparation& ArenaAllocator::preparation_of(std::uint64_t length,
                                                            std::vector<const Preparation*>& found) {
  auto known = std::find_if(preparations_.begin(), preparations_.end(), [&](const Preparation& other) {
    return other.block.length() == length && std::find(found.begin(), found.end(), &other) == found.end();
  });
  if (known == preparations_.end()) known = preparations_.insert(known, reserve(length));
  found.push_back(&*known);
  return *known;
}

ArenaAllocator::Preparation ArenaAllocator::reserve(std::uint64_t length) {
  Preparation made;
  const std::uint64_t alignment = std::min(kPage, std::bit_floor(length));
  for (std::uint32_t index = 0; index < arenas_.size(); ++index) {
    if (cut(index, length, alignment, made)) return made;
  }
  add_arena(length);
  if (!cut(static_cast<std::uint32_t>(arenas_.size() - 1), length, alignment, made)) {
    out_of_memory("queue memory");
  }
  return made;
}

bool ArenaAllocator::cut(std::uint32_t index, std::uint64_t length, std::uint64_t alignment,
                         Preparation& made) {
  Arena& arena = *arenas_[index];
  for (auto range = arena.free.begin(); range != arena.free.end(); ++range) {
    const auto [start, room] = *range;
    const std::uint64_t offset = round_up(start, alignment);
    if (offset + length > start + room) continue;

    // Insertions first: if one throws, only fragments stay unmerged.
    const std::uint64_t behind = start + room - (offset + length);
    if (behind != 0) arena.free.emplace(offset + length, behind);
    if (offset != start) {
      range->second = offset - start;
    } else {
      arena.free.erase(range);
    }

    made.block = {this, {first_number_ + index, offset, length, arena.mapping.data() + offset}};
    made.dirty = std::min(length, arena.untouched - std::min(arena.untouched, offset));
    arena.untouched = std::max(arena.untouched, offset + length);
    return true;
  }
  return false;
}

void ArenaAllocator::go_on(Preparation& preparation) {
  const ArenaBlock& block = preparation.block;
  const std::uint64_t portion = std::min(kPopulatedAtOnce, block.length() - preparation.done);
  populate(*arenas_[block.arena() - first_number_], block.offset() + preparation.done, portion);
  if (preparation.done < preparation.dirty) {
    const std::uint64_t dirty = std::min(portion, preparation.dirty - preparation.done);
    std::memset(block.data() + preparation.done, 0, dirty);
  }
  preparation.done += portion;
}

// Populating now avoids a SIGBUS in the engine when memory is short later. From Linux 5.14 on, this also maps
// the pages, so that the engine does not fault on them.
void ArenaAllocator::populate(Arena& arena, std::uint64_t offset, std::uint64_t length) {
  const std::uint64_t end = (offset + length - 1) / kPopulatedAtOnce + 1;
  for (std::uint64_t step = offset / kPopulatedAtOnce; step < end; ++step) {
    if (arena.populated[step]) continue;
    const std::uint64_t start = step * kPopulatedAtOnce;
    const std::uint64_t size = std::min(kPopulatedAtOnce, arena.mapping.size() - start);
    if (fallocate(arena.descriptor.get(), 0, static_cast<off_t>(start), static_cast<off_t>(size)) != 0)
      out_of_memory("queue memory");
    madvise(arena.mapping.data() + start, size, MADV_POPULATE_WRITE);
    arena.populated[step] = true;
  }
}

void ArenaAllocator::add_arena(std::uint64_t at_least) {
  const std::uint64_t step = std::clamp(total_, kSmallestArena, kLargestArenaStep);
  std::uint64_t size = round_up(std::max(step, at_least), kPage);
  if (total_ + size > limit_) size = round_up(at_least, kPage);
  if (total_ + size > limit_) out_of_memory("queue memory of the context");

  auto arena = std::make_unique<Arena>();
  if (account_ != nullptr) arena->charge = account_->charge(Resource::descriptors, 1, size);
  arena->descriptor = memory::make_sealed_memory("urnic-queues", size);
  if (!arena->descriptor) out_of_memory("queue memory");
  arena->mapping = SharedMapping(arena->descriptor.get(), size);
  arena->free.emplace(0, size);
  arena->populated.resize(round_up(size, kPopulatedAtOnce) / kPopulatedAtOnce);
  arenas_.push_back(std::move(arena));
  total_ += size;
}

void ArenaAllocator::give_back(const ArenaPlace& place) {
  Arena& arena = *arenas_[place.arena - first_number_];
  std::uint64_t start = place.offset;
  std::uint64_t length = place.length;
  auto next = arena.free.lower_bound(start);
  if (next != arena.free.end() && next->first == start + length) {
    length += next->second;
    next = arena.free.erase(next);
  }
  if (next != arena.free.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == start) {
      previous->second += length;
      return;
    }
  }
  arena.free.emplace(start, length);
}

}  // namespace urnic::control
