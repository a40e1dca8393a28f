// The reordering window (RFC 8985, section 6.2, step 4): how long a packet that others have overtaken may be
// late before it is taken for lost. Zero while no reordering has been seen; reordering widens it, and a
// number of recoveries without reordering closes it again.
#pragma once

#include <algorithm>

#include "device_model/transport/time.hpp"

namespace urnic::transport {

class ReorderingWindow {
 public:
  void clear() { *this = {}; }

  // Zero while no reordering is known.
  Nanoseconds span() const { return span_; }

  // A packet arrived although it had been overtaken, `lateness` after the news of the first that overtook it.
  // The next one may be later.
  void seen(Nanoseconds lateness) {
    span_ = std::max(span_, 2 * lateness);
    recoveries_ = 0;
  }
  // Something is taken for lost while nothing else is being recovered.
  void recovery_begins() {
    if (recoveries_ == kRecoveries) span_ = Nanoseconds{0};
    recoveries_ = std::min(recoveries_ + 1, kRecoveries);
  }

 private:
  // RFC 8985, section 6.2, step 4: so many recoveries without reordering.
  static constexpr unsigned kRecoveries = 16;

  Nanoseconds span_{0};
  unsigned recoveries_ = 0;
};

}  // namespace urnic::transport
