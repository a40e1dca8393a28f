#include "device_model/transport/responder/arrival_reports.hpp"

#include <algorithm>
#include <limits>

namespace urnic::transport {

void ArrivalReports::arrived(wire::Psn psn) {
  Span* nearest = nullptr;
  std::int32_t least = std::numeric_limits<std::int32_t>::max();
  for (std::uint32_t i = 0; i < count_; ++i) {
    Span& span = spans_[i];
    if (span.again) continue;
    const std::int32_t width =
        std::max({distance(span.low, span.high), distance(psn, span.high), distance(span.low, psn)});
    if (width < least) {
      nearest = &span;
      least = width;
    }
  }
  if (nearest == nullptr || least > kWidth) {
    if (count_ < kMost) {
      spans_[count_++] = {psn, psn, false};
      return;
    }
    if (nearest == nullptr) {  // all are of packets that arrived again
      spans_[count_ - 1] = {psn, psn, false};
      return;
    }
  }
  if (before(psn, nearest->low)) nearest->low = psn;
  if (before(nearest->high, psn)) nearest->high = psn;
}

void ArrivalReports::arrived_again(wire::Psn psn) {
  for (std::uint32_t i = 0; i < count_; ++i) {
    if (spans_[i].high == psn) return;
  }
  if (count_ < kMost) spans_[count_++] = {psn, psn, true};
}

void ArrivalReports::forget_before(wire::Psn expected) {
  for (std::uint32_t i = count_; i-- > 0;) {
    Span& span = spans_[i];
    if (before(span.high, expected)) {
      remove(i);
    } else if (before(span.low, expected)) {
      span.low = expected;
    }
  }
}

std::optional<wire::SelectiveAckEth> ArrivalReports::take(const ReceiveWindow& window) {
  while (count_ > 0) {
    Span& span = spans_[0];
    if (span.again) {
      const wire::Psn latest = span.high;
      remove(0);
      return window.report(latest);
    }
    const wire::Psn low = span.low;
    const bool fits = distance(low, span.high) <= kReportedEarlier;
    const wire::Psn high = fits ? span.high : low + kReportedEarlier;
    if (fits) {
      remove(0);
    } else {
      span.low = high + 1;
    }
    if (const auto latest = window.last_held(low, high)) return window.report(*latest);
  }
  return std::nullopt;
}

void ArrivalReports::remove(std::uint32_t place) {
  std::copy(spans_.begin() + place + 1, spans_.begin() + count_, spans_.begin() + place);
  --count_;
}

}  // namespace urnic::transport
