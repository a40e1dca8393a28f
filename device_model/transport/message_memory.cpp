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

bool map_both(const SendRequest& request, std::uint64_t offset, std::uint32_t length, const MemoryKeys& keys,
              PdId pd, std::span<const std::byte>& bytes, RangeList& list) {
  const std::size_t in_front = request.inline_data.size();
  const std::size_t begin = std::min<std::uint64_t>(offset, in_front);
  bytes = request.inline_data.subspan(begin, std::min<std::size_t>(in_front - begin, length));
  const auto behind = static_cast<std::uint32_t>(length - bytes.size());
  return map_message(request.sges, offset > in_front ? offset - in_front : 0, behind, AccessRight::local_read,
                     keys, pd, list);
}

}  // namespace urnic::transport
