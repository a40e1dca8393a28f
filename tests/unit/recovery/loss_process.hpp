// Which packets a link loses: each by itself, or in bursts.
#pragma once

#include "tests/unit/recovery/chance.hpp"

namespace urnic::transport::lab {

// `loss` is the share of packets that are lost in the long run. `mean_burst` above 1 makes it a
// Gilbert-Elliott process: a good state that loses nothing and a bad one that loses everything and lasts
// `mean_burst` packets in the mean. 1 loses each packet by itself.
struct LossSettings {
  double loss = 0;
  double mean_burst = 1;
};

class LossProcess {
 public:
  explicit LossProcess(LossSettings settings) : settings_(settings) {
    // The share of time in the bad state is begin / (begin + end).
    end_ = 1 / settings.mean_burst;
    begin_ = settings.loss < 1 ? end_ * settings.loss / (1 - settings.loss) : 1;
  }

  bool lost(Chance& chance) {
    if (settings_.loss <= 0) return false;
    if (settings_.mean_burst <= 1) return chance.happens(settings_.loss);
    bad_ = bad_ ? !chance.happens(end_) : chance.happens(begin_);
    return bad_;
  }

 private:
  LossSettings settings_;
  double begin_ = 0;
  double end_ = 1;
  bool bad_ = false;
};

}  // namespace urnic::transport::lab
