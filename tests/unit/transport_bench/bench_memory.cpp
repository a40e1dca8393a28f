#include "tests/unit/transport_bench/bench_memory.hpp"

#include <algorithm>
#include <cstring>

namespace urnic::transport::bench {

bool BenchMemory::accessible(std::uint64_t address, std::uint64_t length) const {
  if (address < base_ || length > bytes_.size() || address - base_ > bytes_.size() - length) return false;
  return std::none_of(holes_.begin(), holes_.end(), [&](const Hole& hole) {
    return address < hole.address + hole.length && hole.address < address + length;
  });
}

bool BenchMemory::read(std::uint64_t address, std::span<std::byte> into) const {
  if (!accessible(address, into.size())) return false;
  if (!into.empty()) std::memcpy(into.data(), bytes_.data() + (address - base_), into.size());
  return true;
}

bool BenchMemory::write(std::uint64_t address, std::span<const std::byte> from) {
  if (!accessible(address, from.size())) return false;
  if (!from.empty()) std::memcpy(bytes_.data() + (address - base_), from.data(), from.size());
  return true;
}

std::vector<std::byte> BenchMemory::bytes(std::uint64_t address, std::size_t length) const {
  const auto first = bytes_.begin() + static_cast<std::ptrdiff_t>(address - base_);
  return {first, first + static_cast<std::ptrdiff_t>(length)};
}

std::uint64_t BenchMemory::word(std::uint64_t address) const {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes_.data() + (address - base_), sizeof value);
  return value;
}

void BenchMemory::set_word(std::uint64_t address, std::uint64_t value) {
  std::memcpy(bytes_.data() + (address - base_), &value, sizeof value);
}

void BenchMemory::fill_pattern(std::uint64_t address, std::size_t length, std::uint8_t seed) {
  for (std::size_t i = 0; i < length; ++i) bytes_[address - base_ + i] = pattern_byte(i, seed);
}

std::byte pattern_byte(std::size_t position, std::uint8_t seed) {
  return static_cast<std::byte>((position % 251) ^ (position / 251 * 7) ^ seed);
}

std::vector<std::byte> pattern(std::size_t length, std::uint8_t seed, std::size_t from) {
  std::vector<std::byte> bytes(length);
  for (std::size_t i = 0; i < length; ++i) bytes[i] = pattern_byte(from + i, seed);
  return bytes;
}

void BenchKeys::add(std::uint32_t key, PdId pd, BenchMemory& memory,
                    std::initializer_list<AccessRight> rights) {
  static constexpr std::initializer_list<AccessRight> kAll{
      AccessRight::local_read, AccessRight::local_write, AccessRight::remote_read, AccessRight::remote_write,
      AccessRight::remote_atomic};
  regions_.push_back({key, pd, &memory, memory.base(), memory.size(), rights.size() == 0 ? kAll : rights});
}

void BenchKeys::remove(std::uint32_t key) {
  std::erase_if(regions_, [key](const Region& region) { return region.key == key; });
}

KeyCheck BenchKeys::check(std::uint32_t key, PdId pd, std::uint64_t address, std::uint32_t length,
                          AccessRight right, MemoryRange& range) const {
  const auto region =
      std::find_if(regions_.begin(), regions_.end(), [key](const Region& r) { return r.key == key; });
  if (region == regions_.end()) return KeyCheck::unknown_key;
  if (region->pd != pd) return KeyCheck::wrong_pd;
  if (std::find(region->rights.begin(), region->rights.end(), right) == region->rights.end()) {
    return KeyCheck::no_right;
  }
  const bool inside = length <= region->length && address >= region->address &&
                      address - region->address <= region->length - length;
  if (!inside && length != 0) return KeyCheck::out_of_bounds;
  const bool peers_may = std::any_of(region->rights.begin(), region->rights.end(), [](AccessRight given) {
    return given != AccessRight::local_read && given != AccessRight::local_write;
  });
  range = MemoryRange{region->memory, address, length, !peers_may};
  return KeyCheck::ok;
}

KeyCheck BenchKeys::check_local(Lkey key, PdId pd, std::uint64_t address, std::uint32_t length,
                                AccessRight right, MemoryRange& range) const {
  return check(key.value, pd, address, length, right, range);
}

KeyCheck BenchKeys::check_remote(wire::Rkey key, PdId pd, wire::Qpn, std::uint64_t address,
                                 std::uint32_t length, AccessRight right, MemoryRange& range) const {
  return check(key.value, pd, address, length, right, range);
}

KeyCheck BenchKeys::bind(const WindowBinding& binding, PdId, wire::Qpn) {
  bindings.push_back(binding);
  return bind_result;
}

KeyCheck BenchKeys::invalidate(wire::Rkey key, PdId, wire::Qpn) {
  invalidated.push_back(key);
  return invalidate_result;
}

}  // namespace urnic::transport::bench
