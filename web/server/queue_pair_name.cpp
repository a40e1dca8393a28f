#include "web/server/queue_pair_name.hpp"

#include <charconv>

namespace urnic::web {

std::optional<QueuePairName> parse_queue_pair_name(std::string_view text) {
  constexpr std::size_t kLongestDeviceName = 64;
  constexpr std::uint32_t kMostQpn = 0xFFFFFF;
  const std::size_t slash = text.rfind('/');
  if (slash == 0 || slash == std::string_view::npos || slash > kLongestDeviceName) return {};
  std::uint32_t qpn = 0;
  const char* const end = text.data() + text.size();
  const auto [behind, error] = std::from_chars(text.data() + slash + 1, end, qpn);
  if (error != std::errc{} || behind != end || qpn > kMostQpn) return {};
  return QueuePairName{std::string(text.substr(0, slash)), qpn};
}

}  // namespace urnic::web
