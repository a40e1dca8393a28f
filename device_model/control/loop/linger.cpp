#include "device_model/control/loop/linger.hpp"

#include <algorithm>

namespace urnic::control {
namespace {

// The command that started the process must connect within this time.
constexpr std::chrono::milliseconds kFirstUse{10'000};

}  // namespace

Linger::Linger(EventLoop& loop, std::optional<std::chrono::milliseconds> span, std::function<void()> unused)
    : span_(span), timer_(loop, std::move(unused)) {
  if (span_) timer_.set(std::max(*span_, kFirstUse));
}

void Linger::set_used(bool used) {
  if (!span_ || used == used_) return;
  used_ = used;
  was_used_ |= used;
  if (used) {
    timer_.cancel();
  } else {
    timer_.set(*span_);
  }
}

void Linger::stay() {
  span_.reset();
  timer_.cancel();
}

}  // namespace urnic::control
