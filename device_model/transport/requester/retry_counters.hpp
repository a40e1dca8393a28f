// How often the requester may try again without progress (IBTA 9.7.6.1.3, 9.7.5.2.8).
#pragma once

#include <cstdint>
#include <optional>

#include "device_model/transport/queue_pair_config.hpp"

namespace urnic::transport {

class RetryCounters {
 public:
  // rnr_retry of 7 means for ever (IBTA 9.7.5.2.8).
  static constexpr std::uint8_t kRnrForEver = 7;

  // At the start and whenever a request makes progress.
  void reload(const QpParameters& parameters) {
    reload_transport(parameters);
    rnr_ = parameters.rnr_retry;
  }
  // Transport retries used up since the last reload.
  unsigned transport_used(const QpParameters& parameters) const {
    return parameters.retry_count > transport_ ? parameters.retry_count - transport_ : 0u;
  }
  unsigned transport_left() const { return transport_; }
  // Empty: without limit.
  std::optional<unsigned> rnr_left() const {
    if (rnr_ == kRnrForEver) return std::nullopt;
    return rnr_;
  }
  // When something arrives ahead of the oldest request: that request may still get RNR NAKs.
  void reload_transport(const QpParameters& parameters) { transport_ = parameters.retry_count; }

  // Uses up one retry; false if none is left. The first try is not a retry: the queue fails at failure number
  // retry_count + 1.
  bool take_transport_retry() { return take(transport_); }
  bool take_rnr_retry() { return rnr_ == kRnrForEver || take(rnr_); }

 private:
  static bool take(std::uint8_t& left) {
    if (left == 0) return false;
    --left;
    return true;
  }

  std::uint8_t transport_ = 0;
  std::uint8_t rnr_ = 0;
};

}  // namespace urnic::transport
