// What a selective acknowledge says has arrived (docs/selective-acks.md).
#pragma once

#include <string>
#include <vector>

#include "wire/headers.hpp"
#include "wire/psn.hpp"

namespace urnic::analysis {

// From the first PSN to the last one.
struct PsnRange {
  wire::Psn first;
  wire::Psn last;
  friend bool operator==(const PsnRange&, const PsnRange&) = default;
};

// The PSNs behind `first_missing` that have arrived, in order.
std::vector<PsnRange> selective_ack_ranges(wire::Psn first_missing, const wire::SelectiveAckEth& header);

// "101, 103-104".
std::string ranges_text(const std::vector<PsnRange>& ranges);

}  // namespace urnic::analysis
