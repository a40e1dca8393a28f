#include "device_model/control/objects/queue_pages.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

namespace urnic::control {
namespace {

constexpr std::uint64_t kQueuePage = 4096;
constexpr std::uint64_t kUserSpaceEnd = 1ull << 47;

QueuePages::Range whole_pages(const QueuePages::Range& range) {
  const std::uint64_t begin = range.address / kQueuePage * kQueuePage;
  const std::uint64_t end = (range.address + range.length + kQueuePage - 1) / kQueuePage * kQueuePage;
  return {begin, end - begin};
}

bool is_in_user_space(const QueuePages::Range& range) {
  return range.length != 0 && range.length < kUserSpaceEnd && range.address >= kQueuePage &&
         range.address < kUserSpaceEnd - range.length;
}

bool overlap(const QueuePages::Range& a, const QueuePages::Range& b) {
  return a.address < b.address + b.length && b.address < a.address + a.length;
}

// The pages of the ranges, each once: two ranges that share a page become one. Two doorbell records often do.
std::vector<QueuePages::Range> merged(std::span<const QueuePages::Range> ranges) {
  std::vector<QueuePages::Range> pages;
  for (const QueuePages::Range& range : ranges) {
    QueuePages::Range wanted = whole_pages(range);
    for (auto other = pages.begin(); other != pages.end();) {
      if (!overlap(*other, wanted)) {
        ++other;
        continue;
      }
      const std::uint64_t end = std::max(wanted.address + wanted.length, other->address + other->length);
      wanted.address = std::min(wanted.address, other->address);
      wanted.length = end - wanted.address;
      other = pages.erase(other);
    }
    pages.push_back(wanted);
  }
  return pages;
}

}  // namespace

QueuePageBlock* QueuePages::find_from(const Process& process, std::uint64_t address) {
  auto next = blocks_.upper_bound({&process, address});
  if (next != blocks_.begin()) {
    const auto& [key, block] = *std::prev(next);
    if (key.first == &process && address < block->end()) return block.get();
  }
  return next != blocks_.end() && next->first.first == &process ? next->second.get() : nullptr;
}

HeldPages QueuePages::hold(const Process& process, const Range& range) {
  if (!is_in_user_space(range)) return {};
  QueuePageBlock* const block = find_from(process, range.address);
  if (block == nullptr || range.address < block->address || range.address + range.length > block->end())
    return {};
  if (block->held++ == 0) std::erase(unused_, Key{&process, block->address});
  return {this, {block, block->data() + (range.address - block->address), range.length}};
}

int QueuePages::find_missing(const Process& process, std::span<const Range> ranges,
                             std::vector<Range>& missing) {
  if (!std::all_of(ranges.begin(), ranges.end(), is_in_user_space)) return EFAULT;
  for (const Range& pages : merged(ranges)) {
    const QueuePageBlock* const block = find_from(process, pages.address);
    if (block == nullptr || block->address >= pages.address + pages.length) {
      missing.push_back(pages);
    } else if (pages.address < block->address || pages.address + pages.length > block->end()) {
      return EINVAL;
    }
  }
  return 0;
}

bool QueuePages::prepare(std::span<const Range> missing) {
  std::array<std::uint64_t, kMostRanges> lengths{};
  for (std::size_t i = 0; i < std::min(lengths.size(), missing.size()); ++i) lengths[i] = missing[i].length;
  return arenas_.prepare({lengths[0], lengths[1], lengths[2], lengths[3]});
}

std::vector<QueuePageBlock> QueuePages::make(const std::shared_ptr<Process>& process,
                                             std::span<const Range> missing) {
  std::vector<QueuePageBlock> made;
  for (const Range& pages : missing)
    made.push_back({.process = process, .address = pages.address, .block = arenas_.allocate(pages.length)});
  return made;
}

void QueuePages::add(std::vector<QueuePageBlock> blocks) {
  for (QueuePageBlock& block : blocks) {
    const Key key{block.process.get(), block.address};
    unused_.reserve(blocks_.size() + 1);  // so that give_back cannot fail
    blocks_.emplace(key, std::make_unique<QueuePageBlock>(std::move(block)));
    unused_.push_back(key);  // until a queue holds it
  }
}

int QueuePages::add_mapped(const std::shared_ptr<Process>& process, const Range& missing,
                           std::unique_ptr<memory::FilePages> mapped, Charge charge) {
  if (mapped == nullptr) return EOPNOTSUPP;
  QueuePageBlock block{.process = process, .address = missing.address};
  block.charge = std::move(charge);
  block.file = std::move(mapped);
  std::vector<QueuePageBlock> blocks;
  blocks.push_back(std::move(block));
  add(std::move(blocks));
  return 0;
}

std::vector<QueuePageBlock> QueuePages::take_unused(const Process& process, std::size_t most) {
  std::vector<QueuePageBlock> taken;
  for (auto key = unused_.begin(); key != unused_.end() && taken.size() < most;) {
    if (key->first != &process) {
      ++key;
      continue;
    }
    const auto block = blocks_.extract(*key);
    if (block.mapped()->file == nullptr) taken.push_back(std::move(*block.mapped()));
    key = unused_.erase(key);
  }
  return taken;
}

void QueuePages::give_back(const HeldPlace& place) {
  if (--place.pages->held == 0) unused_.push_back({place.pages->process.get(), place.pages->address});
}

}  // namespace urnic::control
