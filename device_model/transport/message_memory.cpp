#include "device_model/transport/message_memory.hpp"

#include <algorithm>

namespace urnic::transport {

bool map_message(std::span<const Sge> sges, std::uint64_t offset, std::uint32_t length, AccessRight right,
                 const MemoryKeys& keys, PdId pd, RangeList& list) {
  for (const Sge& sge : sges) {
    if (length == 0) return true;
    if (offset >= sge.length) {
      offset -= sge.length;
      continue;
    }
    const auto within = static_cast<std::uint32_t>(offset);
    const std::uint32_t piece = std::min(sge.length - within, length);
    MemoryRange range;
    if (keys.check_local(sge.lkey, pd, sge.address + within, piece, right, range) != KeyCheck::ok) {
      return false;
    }
    list.add(range);
    length -= piece;
    offset = 0;
  }
  return length == 0;
}

}  // namespace urnic::transport
