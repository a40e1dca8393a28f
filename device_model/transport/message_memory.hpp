// The memory behind a part of a message: walks a request's scatter/gather list and checks each piece against
// its key, at every packet anew (IBTA 10.6.3).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "device_model/transport/memory_access.hpp"
#include "device_model/transport/work_request.hpp"

namespace urnic::transport {

// The longest scatter/gather list, as a WQE's one-byte count has it.
inline constexpr std::size_t kMaxSges = 255;

// Up to kMaxSges ranges, on the stack. Not initialized, because one is made for each packet.
class RangeList {
 public:
  void add(const MemoryRange& range) { std::construct_at(data() + count_++, range); }
  std::span<const MemoryRange> ranges() const {
    return {reinterpret_cast<const MemoryRange*>(storage_.data()), count_};
  }

 private:
  MemoryRange* data() { return reinterpret_cast<MemoryRange*>(storage_.data()); }

  std::size_t count_ = 0;
  alignas(MemoryRange) std::array<std::byte, kMaxSges * sizeof(MemoryRange)> storage_;
};

// Adds to `list` the ranges of bytes [offset, offset + length) of the message that `sges` (at most kMaxSges)
// describe. Pieces without bytes are skipped, their keys not checked. False if a key does not allow `right`,
// or the list is too short; then `list` is incomplete.
bool map_message(std::span<const Sge> sges, std::uint64_t offset, std::uint32_t length, AccessRight right,
                 const MemoryKeys& keys, PdId pd, RangeList& list);

// The same for a request whose segments have inline data in front of them: `bytes` of that, and then the
// ranges in `list`.
bool map_both(const SendRequest& request, std::uint64_t offset, std::uint32_t length, const MemoryKeys& keys,
              PdId pd, std::span<const std::byte>& bytes, RangeList& list);

}  // namespace urnic::transport
