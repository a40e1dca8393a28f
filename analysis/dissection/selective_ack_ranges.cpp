#include "analysis/dissection/selective_ack_ranges.hpp"

#include <algorithm>

namespace urnic::analysis {

std::vector<PsnRange> selective_ack_ranges(wire::Psn first_missing, const wire::SelectiveAckEth& header) {
  std::vector<PsnRange> ranges;
  // Bit i is latest - 1 - i; what lies before the first missing one is not told.
  const std::int32_t back = std::min<std::int32_t>(64, distance(first_missing, header.latest));
  for (std::int32_t ago = back; ago >= 0; --ago) {
    const bool has_arrived = ago == 0 || (header.earlier >> (ago - 1) & 1) != 0;
    if (!has_arrived) continue;
    const wire::Psn psn = header.latest - static_cast<std::uint32_t>(ago);
    if (!ranges.empty() && ranges.back().last + 1 == psn) {
      ranges.back().last = psn;
    } else {
      ranges.push_back({psn, psn});
    }
  }
  return ranges;
}

std::string ranges_text(const std::vector<PsnRange>& ranges) {
  std::string text;
  for (const PsnRange& range : ranges) {
    if (!text.empty()) text += ", ";
    text += std::to_string(range.first.value());
    if (range.last != range.first) text += "-" + std::to_string(range.last.value());
  }
  return text;
}

}  // namespace urnic::analysis
