#include "device_model/control/loop/work_in_portions.hpp"

#include <algorithm>

namespace urnic::control {

// The copy keeps the portion alive while it ends its own work.
void WorkInPortions::run_one() {
  if (works_.empty()) return;
  works_.splice(works_.end(), works_, works_.begin());
  const std::shared_ptr<Entry> entry = works_.back();
  if (!entry->portion()) std::erase(works_, entry);
}

WorkInPortions::Work::Work(WorkInPortions& works, Portion portion)
    : works_(&works), entry_(std::make_shared<Entry>(Entry{std::move(portion)})) {
  works.works_.push_back(entry_);
}

void WorkInPortions::Work::reset() {
  if (works_ != nullptr) std::erase(works_->works_, entry_);
  works_ = nullptr;
  entry_.reset();
}

}  // namespace urnic::control
