#include "device_model/engine/doorbells/watched_page.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <utility>

namespace urnic::engine {

namespace {

// Does not read the descriptor: a program may have made it one on which readers wait.
bool has_fault(int faults) {
  pollfd entry{.fd = faults, .events = POLLIN, .revents = 0};
  return poll(&entry, 1, 0) == 1 && (entry.revents & POLLIN) != 0;
}

}  // namespace

void WatchedPage::hold(PageHolder holder) {
  const bool is_marked = std::any_of(holds_.begin(), holds_.end(),
                                     [&](const Hold& each) { return each.holder == holder && !each.faults; });
  if (!is_marked) holds_.push_back({holder, {}, 0});
}

memory::Descriptor WatchedPage::watch(PageHolder holder, memory::Descriptor faults, std::uint64_t address) {
  std::erase_if(holds_, [&](const Hold& each) { return each.holder == holder && !each.faults; });
  const auto found = std::find_if(holds_.begin(), holds_.end(), [&](const Hold& each) {
    return each.holder == holder && each.address == address;
  });
  if (found != holds_.end()) return std::exchange(found->faults, std::move(faults));
  if (holds_.size() >= kMostHolds) {
    hold(holder);
    return faults;
  }
  holds_.push_back({holder, std::move(faults), address});
  return {};
}

std::vector<memory::Descriptor> WatchedPage::release(PageHolder holder) {
  std::vector<memory::Descriptor> ended;
  std::erase_if(holds_, [&](Hold& each) {
    if (each.holder != holder) return false;
    if (each.faults) ended.push_back(std::move(each.faults));
    return true;
  });
  return ended;
}

std::vector<memory::Descriptor> WatchedPage::release_all() {
  std::vector<memory::Descriptor> ended;
  for (Hold& each : holds_) {
    if (each.faults) ended.push_back(std::move(each.faults));
  }
  holds_.clear();
  return ended;
}

bool WatchedPage::can_be_taken() const {
  return std::all_of(holds_.begin(), holds_.end(),
                     [](const Hold& each) { return static_cast<bool>(each.faults); });
}

bool WatchedPage::take() {
  const auto at = static_cast<off_t>(number_ * kBytes);
  away_ = fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, kBytes) == 0;
  return away_;
}

bool WatchedPage::is_awaited() const {
  return std::any_of(holds_.begin(), holds_.end(),
                     [](const Hold& each) { return has_fault(each.faults.get()); });
}

void WatchedPage::given_back() {
  away_ = false;
  for (const Hold& each : holds_) {
    uffdio_range range{.start = each.address, .len = kBytes};
    ioctl(each.faults.get(), UFFDIO_WAKE, &range);
  }
}

}  // namespace urnic::engine
