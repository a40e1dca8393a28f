#include "device_model/engine/device/address_handle_table.hpp"

#include <utility>

namespace urnic::engine {
namespace {

constexpr std::uint32_t kIndexBits = 16;
constexpr std::uint32_t kIndexMask = (1u << kIndexBits) - 1;

}  // namespace

AddressHandleTable::AddressHandleTable(std::uint32_t max_handles) : entries_(max_handles) {
  free_.reserve(max_handles);
  for (std::uint32_t i = max_handles; i != 0; --i) free_.push_back(i - 1);
}

std::optional<std::uint32_t> AddressHandleTable::add(std::unique_ptr<AddressHandle> handle) {
  if (free_.empty()) return std::nullopt;
  const std::uint32_t index = free_.back();
  free_.pop_back();
  entries_[index].handle = std::move(handle);
  return entries_[index].generation << kIndexBits | index;
}

const AddressHandle* AddressHandleTable::find(std::uint32_t number) const {
  const std::uint32_t index = number & kIndexMask;
  if (index >= entries_.size()) return nullptr;
  const Entry& entry = entries_[index];
  return (entry.generation ^ number >> kIndexBits) & kIndexMask ? nullptr : entry.handle.get();
}

std::unique_ptr<AddressHandle> AddressHandleTable::remove(std::uint32_t number) {
  if (find(number) == nullptr) return nullptr;
  const std::uint32_t index = number & kIndexMask;
  Entry& entry = entries_[index];
  ++entry.generation;
  free_.push_back(index);
  return std::move(entry.handle);
}

void AddressHandleTable::follow_lids(const LocalLids& lids) {
  for (Entry& entry : entries_)
    if (entry.handle) entry.handle->frames.set_source(lids.moved(entry.handle->frames.source()));
}

}  // namespace urnic::engine
