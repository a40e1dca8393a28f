#include "provider/plugin/connection/arena_table.hpp"

#include <sys/mman.h>

#include <cstdlib>

namespace urnic::provider {

const ArenaTable::Arena* ArenaTable::lookup(std::uint32_t number) const {
  for (std::uint32_t i = 0; i < count_; ++i) {
    if (arenas_[i].number == number) return &arenas_[i];
  }
  return nullptr;
}

const ArenaTable::Arena* ArenaTable::add(std::uint32_t number, std::uint64_t size,
                                         const Descriptor& descriptor) {
  if (!descriptor.valid() || size == 0) return nullptr;
  auto* grown = static_cast<Arena*>(std::realloc(arenas_, (count_ + 1) * sizeof(Arena)));
  if (grown == nullptr) return nullptr;
  arenas_ = grown;
  void* base = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor.get(), 0);
  if (base == MAP_FAILED) return nullptr;
  arenas_[count_] = {number, size, static_cast<char*>(base)};
  return &arenas_[count_++];
}

void* ArenaTable::find(const abi::ArenaRange& range, ReceivedDescriptors& received) {
  Descriptor descriptor;
  if (range.arena_is_new != 0) descriptor = received.take();
  if (range.length == 0) return nullptr;
  // On a forked child's connection, the device announces arenas again that the child has inherited.
  const Arena* arena = lookup(range.arena);
  if (arena == nullptr) arena = add(range.arena, range.arena_size, descriptor);
  if (arena == nullptr || range.offset > arena->size || range.length > arena->size - range.offset) {
    return nullptr;
  }
  return arena->base + range.offset;
}

void ArenaTable::unmap_all() {
  for (std::uint32_t i = 0; i < count_; ++i) munmap(arenas_[i].base, arenas_[i].size);
  std::free(arenas_);
  arenas_ = nullptr;
  count_ = 0;
}

}  // namespace urnic::provider
