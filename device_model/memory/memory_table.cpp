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

// A removed entry waits until this many others are free too, so that old keys stay invalid for long: with
// 4096 waiting and 256 variations a key comes back after a million removals at the earliest.
constexpr std::uint32_t kReuseDelay = 4096;

// Flags that let peers reach a region's bytes; a window does, whatever rights the region itself gives them.
// Without these flags the program may put received bytes into place itself.
constexpr std::uint32_t kNotOwnersOnly = access_remote_write | access_remote_read | access_remote_atomic |
                                         access_window_bind | access_placed_by_device;

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

MemoryTable::MemoryTable(std::uint32_t max_entries, NumberSeed seed)
    : max_entries_(std::min(max_entries, kMaxIndex)),
      seed_(seed),
      first_index_(static_cast<std::uint32_t>(seed.bits(NumberDraw::key_index) %
                                              (std::uint64_t{kMaxIndex} - max_entries_ + 1))) {
  chunks_.reserve(max_entries_ / kChunkEntries + 1);
}

MemoryTable::~MemoryTable() = default;

std::uint32_t MemoryTable::place_of(std::uint32_t key) const {
  return (key >> kVariationBits) - first_index_;
}

std::uint32_t MemoryTable::first_key(std::uint32_t place) const {
  const std::uint64_t variation = seed_.bits(NumberDraw::key_variation, place) & kVariationMask;
  return (first_index_ + place) << kVariationBits | static_cast<std::uint32_t>(variation);
}

MemoryTable::Entry& MemoryTable::at(std::uint32_t place) {
  return chunks_[place / kChunkEntries][place % kChunkEntries];
}

const MemoryTable::Entry* MemoryTable::find(std::uint32_t key) const {
  const std::uint32_t place = place_of(key);
  if (place - 1 >= highest_place_) return nullptr;  // also if place wrapped around, below first_index_
  const Entry& entry = chunks_[place / kChunkEntries][place % kChunkEntries];
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

// Place 0 is never given out, so that no valid key is 0.
MemoryTable::Entry* MemoryTable::take_entry() {
  const bool may_grow = highest_place_ < max_entries_;
  if (free_count_ == 0 && !may_grow) return nullptr;
  if (may_grow && free_count_ <= kReuseDelay) {
    const std::uint32_t place = highest_place_ + 1;
    if (place / kChunkEntries >= chunks_.size()) chunks_.push_back(std::make_unique<Entry[]>(kChunkEntries));
    highest_place_ = place;
    Entry& entry = at(place);
    entry.key = first_key(place);
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
  const std::uint32_t place = place_of(key);
  if (free_count_ == 0)
    oldest_free_ = place;
  else
    at(newest_free_).link = place;
  newest_free_ = place;
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
  if (type == 2 && window_lists_.empty()) window_lists_.resize(kWindowLists);
  Entry* entry = take_entry();
  if (entry == nullptr) return std::nullopt;
  entry->kind = type == 1 ? Kind::window_type_1 : Kind::window_type_2;
  entry->pd = pd;
  return Rkey{entry->key};
}

void MemoryTable::remove_window(Rkey key) {
  const std::uint32_t place = place_of(key.value);
  if (place - 1 >= highest_place_) return;
  Entry& window = at(place);
  if (window.kind != Kind::window_type_1 && window.kind != Kind::window_type_2) return;
  unbind(window);
  give_back(window);
}

void MemoryTable::unbind(Entry& window) {
  if (window.memory == nullptr) return;
  --at(window.link).link;
  if (window.kind == Kind::window_type_2) delist(window);
  window.memory = nullptr;
  window.length = 0;
  window.link = 0;
  window.queue_pair = Qpn{};
}

// Puts the window at the front of its QP's list.
void MemoryTable::enlist(Entry& window) {
  std::uint32_t& first = window_list(window.queue_pair);
  const std::uint32_t place = place_of(window.key);
  window.previous = 0;
  window.next = first;
  if (first != 0) at(first).previous = place;
  first = place;
}

void MemoryTable::delist(Entry& window) {
  (window.previous != 0 ? at(window.previous).next : window_list(window.queue_pair)) = window.next;
  if (window.next != 0) at(window.next).previous = window.previous;
  window.previous = window.next = 0;
}

std::uint32_t MemoryTable::release_queue_pair(Qpn queue_pair, std::uint32_t most) {
  if (window_lists_.empty()) return 0;
  std::uint32_t looked_at = 0;
  for (std::uint32_t place = window_list(queue_pair); place != 0 && looked_at < most; ++looked_at) {
    Entry& window = at(place);
    place = window.next;
    if (window.queue_pair == queue_pair) unbind(window);
  }
  return looked_at;
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
  if (entry->pd != pd && (entry->access & access_in_all_domains) == 0) return KeyCheck::wrong_pd;
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
