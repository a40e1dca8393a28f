// A queue pair as a page names it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace urnic::web {

struct QueuePairName {
  std::string device;
  std::uint32_t qpn = 0;
  friend auto operator<=>(const QueuePairName&, const QueuePairName&) = default;
};

// Reads "urnic0/17"; empty if it is something else.
std::optional<QueuePairName> parse_queue_pair_name(std::string_view text);

}  // namespace urnic::web
