#include "device_model/control/objects/sharing_rule.hpp"

#include <algorithm>

namespace urnic::control {
namespace {

// After 1, 2, 3 ... unpaid regions in succession 4, 16, 64 ... are passed over, at most 4^8.
constexpr std::uint32_t kMostUnpaid = 8;
constexpr std::uint32_t kLogTimes = 2;

}  // namespace

bool SharingRule::shares(Clock::time_point now) {
  if (pass_over_ != 0) {
    --pass_over_;
    return false;
  }
  return spent_ <= kFreeTime + (now - begin_) / kPartOfLife;
}

void SharingRule::ended(std::uint64_t bytes, std::uint64_t moved) {
  if (moved / kPaidByTimes >= bytes) {
    unpaid_ = 0;
    return;
  }
  unpaid_ = std::min(unpaid_ + 1, kMostUnpaid);
  pass_over_ = std::uint64_t{1} << (kLogTimes * unpaid_);
}

}  // namespace urnic::control
