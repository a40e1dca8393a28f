#include "device_model/memory/memory_table.hpp"

#include <algorithm>
#include <stdexcept>

namespace urnic::memory {

using transport::AccessRight;
using transport::KeyCheck;
using transport::Lkey;
using transport::MemoryRange;
using transport::PdId;
using wire::Qpn;
using wire::Rkey;

namespace {

constexpr std::uint32_t kVariationBits = 8;
constexpr std::uint32_t kVariationMask = (1u << kVariationBits) - 1;
constexpr std::uint32_t kMaxIndex = (1u << (32 - kVariationBits)) - 1;

// A removed entry waits until this many others are free too, so that its variations last: with 4096 waiting
// and 256 variations a key comes back after a million removals at the earliest.
constexpr std::uint32_t kReuseDelay = 4096;

// What lets peers reach a region's bytes; through a window, whatever rights the region itself gives them.
// Received bytes that nobody else may reach can be left to the program to put into place.
constexpr std::uint32_t kNotOwnersOnly = access_remote_write | access_remote_read | access_remote_atomic |
                                         access_window_bind | access_placed_by_device;

std::uint32_t index_of(std::uint32_t key) { return key >> kVariationBits; }

std::uint32_t with_next_variation(std::uint32_t key) {
  return (key & ~kVariationMask) | ((key + 1) & kVariationMask);
}

std::uint32_t flag_for(AccessRight right) {
  switch (right) {
    case AccessRight::local_read:
      return 0;  // every region may be read locally (IBTA 10.6.3)
    case AccessRight::local_write:
      return access_local_write;
    case AccessRight::remote_read:
      return access_remote_read;
    case AccessRight::remote_write:
      return access_remote_write;
    case AccessRight::remote_atomic:
      return access_remote_atomic;
  }
  return ~0u;
}

}  // namespace

MemoryTable::MemoryTable(std::uint32_t max_entries) : max_entries_(std::min(max_entries, kMaxIndex)) {
  chunks_.reserve(max_entries_ / kChunkEntries + 1);
}

MemoryTable::~MemoryTable() = default;

MemoryTable::Entry& MemoryTable::at(std::uint32_t index) {
  return chunks_[index / kChunkEntries][index % kChunkEntries];
}

const MemoryTable::Entry* MemoryTable::find(std::uint32_t key) const {
  const std::uint32_t index = index_of(key);
  if (index == 0 || index > highest_index_) return nullptr;
  const Entry& entry = chunks_[index / kChunkEntries][index % kChunkEntries];
  return entry.key == key && entry.kind != Kind::free ? &entry : nullptr;
}

MemoryTable::Entry* MemoryTable::find(std::uint32_t key) {
  return const_cast<Entry*>(static_cast<const MemoryTable*>(this)->find(key));
}

MemoryTable::Entry* MemoryTable::find_region(Lkey key) {
  Entry* entry = find(key.value);
  return entry != nullptr && entry->kind == Kind::region ? entry : nullptr;
}

MemoryTable::Entry* MemoryTable::find_window(Rkey key) {
  Entry* entry = find(key.value);
  return entry != nullptr && entry->kind != Kind::region ? entry : nullptr;
}

// Index 0 is never given out, so that no valid key is 0.
MemoryTable::Entry* MemoryTable::take_entry() {
  const bool may_grow = highest_index_ < max_entries_;
  if (free_count_ == 0 && !may_grow) return nullptr;
  if (may_grow && free_count_ <= kReuseDelay) {
    const std::uint32_t index = highest_index_ + 1;
    if (index / kChunkEntries >= chunks_.size()) chunks_.push_back(std::make_unique<Entry[]>(kChunkEntries));
    highest_index_ = index;
    Entry& entry = at(index);
    entry.key = index << kVariationBits;
    return &entry;
  }
  Entry& entry = at(oldest_free_);
  oldest_free_ = entry.link;
  entry.link = 0;
  --free_count_;
  entry.key = with_next_variation(entry.key);
  return &entry;
}

void MemoryTable::give_back(Entry& entry) {
  const std::uint32_t key = entry.key;
  entry = Entry{};
  entry.key = key;
  const std::uint32_t index = index_of(key);
  if (free_count_ == 0)
    oldest_free_ = index;
  else
    at(newest_free_).link = index;
  newest_free_ = index;
  ++free_count_;
}

void MemoryTable::describe(Entry& entry, const RegionSpec& spec) {
  entry.memory = spec.memory;
  entry.start = spec.iova;
  entry.length = spec.length;
  entry.address = spec.address;
  entry.pd = spec.pd;
  entry.access = spec.access;
}

std::optional<Lkey> MemoryTable::add_region(const RegionSpec& spec) {
  Entry* entry = take_entry();
  if (entry == nullptr) return std::nullopt;
  entry->kind = Kind::region;
  describe(*entry, spec);
  return Lkey{entry->key};
}

bool MemoryTable::change_region(Lkey key, const RegionSpec& spec, Lkey& new_key) {
  Entry* region = find_region(key);
  if (region == nullptr || region->link != 0) return false;
  const bool moves = spec.memory != region->memory || spec.address != region->address ||
                     spec.iova != region->start || spec.length != region->length;
  if (moves) region->key = with_next_variation(region->key);
  describe(*region, spec);
  new_key = Lkey{region->key};
  return true;
}

bool MemoryTable::remove_region(Lkey key) {
  Entry* region = find_region(key);
  if (region == nullptr || region->link != 0) return false;
  give_back(*region);
  return true;
}

std::optional<Rkey> MemoryTable::add_window(PdId pd, std::uint32_t type) {
  if (type != 1 && type != 2) throw std::invalid_argument("a memory window's type is 1 or 2");
  Entry* entry = take_entry();
  if (entry == nullptr) return std::nullopt;
  entry->kind = type == 1 ? Kind::window_type_1 : Kind::window_type_2;
  entry->pd = pd;
  return Rkey{entry->key};
}

void MemoryTable::remove_window(Rkey key) {
  const std::uint32_t index = index_of(key.value);
  if (index == 0 || index > highest_index_) return;
  Entry& window = at(index);
  if (window.kind != Kind::window_type_1 && window.kind != Kind::window_type_2) return;
  unbind(window);
  give_back(window);
}

void MemoryTable::unbind(Entry& window) {
  if (window.memory == nullptr) return;
  --at(window.link).link;
  if (window.kind == Kind::window_type_2) --bound_type_2_;
  window.memory = nullptr;
  window.length = 0;
  window.link = 0;
  window.queue_pair = Qpn{};
}

void MemoryTable::release_queue_pair(Qpn queue_pair) {
  for (std::uint32_t index = 1; index <= highest_index_ && bound_type_2_ > 0; ++index) {
    Entry& entry = at(index);
    if (entry.kind == Kind::window_type_2 && entry.memory != nullptr && entry.queue_pair == queue_pair)
      unbind(entry);
  }
}

KeyCheck MemoryTable::check_range(const Entry& entry, std::uint64_t address, std::uint32_t length,
                                  AccessRight right, MemoryRange& range) {
  const std::uint32_t needed = flag_for(right);
  if ((entry.access & needed) != needed) return KeyCheck::no_right;
  const std::uint64_t offset = address - entry.start;
  if (length > 0 && (address < entry.start || offset > entry.length || length > entry.length - offset))
    return KeyCheck::out_of_bounds;
  range = {entry.memory, entry.address + offset, length, (entry.access & kNotOwnersOnly) == 0};
  return KeyCheck::ok;
}

KeyCheck MemoryTable::check_local(Lkey key, PdId pd, std::uint64_t address, std::uint32_t length,
                                  AccessRight right, MemoryRange& range) const {
  const Entry* entry = find(key.value);
  if (entry == nullptr || entry->kind != Kind::region) return KeyCheck::unknown_key;
  if (entry->pd != pd) return KeyCheck::wrong_pd;
  return check_range(*entry, address, length, right, range);
}

KeyCheck MemoryTable::check_remote(Rkey key, PdId pd, Qpn queue_pair, std::uint64_t address,
                                   std::uint32_t length, AccessRight right, MemoryRange& range) const {
  const Entry* entry = find(key.value);
  if (entry == nullptr || entry->memory == nullptr) return KeyCheck::unknown_key;
  if (entry->pd != pd) return KeyCheck::wrong_pd;
  if (entry->kind == Kind::window_type_2 && entry->queue_pair != queue_pair)
    return KeyCheck::wrong_queue_pair;
  return check_range(*entry, address, length, right, range);
}

}  // namespace urnic::memory
