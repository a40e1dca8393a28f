#include "device_model/control/loop/work_in_portions.hpp"

#include <algorithm>

namespace urnic::control {

// The copy keeps the portion alive while it ends its own work.
void WorkInPortions::run_one() {
  if (works_.empty()) return;
  works_.splice(works_.end(), works_, works_.begin());
  const std::shared_ptr<Portion> portion = works_.back();
  if (!(*portion)()) std::erase(works_, portion);
}

WorkInPortions::Work::Work(WorkInPortions& works, Portion portion)
    : works_(&works), portion_(std::make_shared<Portion>(std::move(portion))) {
  works.works_.push_back(portion_);
}

void WorkInPortions::Work::reset() {
  if (works_ != nullptr) std::erase(works_->works_, portion_);
  works_ = nullptr;
  portion_.reset();
}

}  // namespace urnic::control
