#include "device_model/engine/doorbells/uar_pages.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <algorithm>

#include "device_model/engine/completion/completion_queue.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "device_model/engine/round/round.hpp"

namespace urnic::engine {

namespace {

// Between two looks of an engine that no store wakes: soon after work, and later.
constexpr transport::Nanoseconds kShortRest{100'000};
constexpr transport::Nanoseconds kLongRest{2'000'000};
// For a thread whose store has waited, to have its turn.
constexpr transport::Nanoseconds kStoreRest{50'000};
// Receives have no register: so late receives of a QP in the error state are found by looking.
constexpr transport::Nanoseconds kErrorRest{5'000'000};

// Does not read the descriptor: a program may have made it one on which readers wait.
bool has_fault(int faults) {
  pollfd entry{.fd = faults, .events = POLLIN, .revents = 0};
  return poll(&entry, 1, 0) == 1 && (entry.revents & POLLIN) != 0;
}

}  // namespace

UarPages::UarPages(std::byte* pages, std::uint32_t count, int file, Round& round)
    : pages_(pages),
      count_(count),
      file_(file),
      round_(round),
      registers_(count * kRegistersPerPage),
      pages_of_(count) {}

UarRegister UarPages::least_used() const {
  const auto least = std::min_element(registers_.begin(), registers_.end(), [](const auto& a, const auto& b) {
    return a.queue_pairs.size() < b.queue_pairs.size();
  });
  return {static_cast<std::uint32_t>(least - registers_.begin())};
}

void UarPages::attach(UarRegister on, QueuePairContext& queue_pair) {
  Register& place = registers_[on.value];
  place.queue_pairs.push_back(&queue_pair);
  if (place.queue_pairs.size() == 1) used_.push_back(on.value);
  ++pages_of_[on.value / kRegistersPerPage].users;
}

void UarPages::detach(UarRegister on, const QueuePairContext& queue_pair) {
  Register& place = registers_[on.value];
  if (std::erase(place.queue_pairs, &queue_pair) == 0) return;
  place.next = 0;
  place.left = place.left == 0 ? 0 : static_cast<std::uint32_t>(place.queue_pairs.size());
  if (place.queue_pairs.empty()) std::erase(used_, on.value);
  --pages_of_[on.value / kRegistersPerPage].users;
}

void UarPages::watch(std::uint32_t page, memory::Descriptor faults, std::uint64_t address) {
  pages_of_[page].faults = std::move(faults);
  pages_of_[page].address = address;
}

// The exchange takes the word away, so that the same WQE at the same place rings again after a reset of its
// QP.
bool UarPages::take(std::uint64_t* word) {
  if (__atomic_load_n(word, __ATOMIC_RELAXED) == 0) return false;
  return __atomic_exchange_n(word, 0, __ATOMIC_ACQ_REL) != 0;
}

bool UarPages::was_written(std::uint32_t index) const {
  const std::size_t at = kFirstRegister + index % kRegistersPerPage * kRegisterBytes;
  const bool first = take(word(index / kRegistersPerPage, at));
  const bool second = take(word(index / kRegistersPerPage, at + kRegisterBytes / 2));
  return first || second;
}

bool UarPages::rung() const {
  return ask_queues_ || std::any_of(used_.begin(), used_.end(), [this](std::uint32_t index) {
           if (registers_[index].left != 0) return true;
           if (away_) return false;  // a look would bring the page back, and no store would wake the engine
           const std::size_t at = kFirstRegister + index % kRegistersPerPage * kRegisterBytes;
           return *word(index / kRegistersPerPage, at) != 0 ||
                  *word(index / kRegistersPerPage, at + kRegisterBytes / 2) != 0;
         });
}

bool UarPages::look(std::uint32_t most) {
  if (!away_ && !queues_.empty() && take(word(0, kArmRegister))) {
    ask_queues_ = true;
    pages_of_[0].owes_store = false;
  }
  if (ask_queues_) look_at_requests();
  std::uint32_t looked = 0;
  bool worked = false;
  for (const std::uint32_t index : used_) {
    Register& place = registers_[index];
    if (!away_ && was_written(index)) {
      place.left = static_cast<std::uint32_t>(place.queue_pairs.size());
      pages_of_[index / kRegistersPerPage].owes_store = false;
    }
    for (; place.left != 0 && looked < most; --place.left, ++looked) {
      if (place.next >= place.queue_pairs.size()) place.next = 0;
      worked |= place.queue_pairs[place.next++]->doorbell();
    }
    worked |= place.left != 0;
  }
  if (worked) rest_ = {};
  return worked;
}

// A program may ask for an event after the CQE that it waits for was written, with the request still in its
// processor's store buffer when it found the CQ empty. A NIC compares the request's consumer index with its
// own producer index.
void UarPages::look_at_requests() {
  ask_queues_ = false;
  for (CompletionQueue* const queue : queues_) round_.notifications().recheck(*queue, round_.now());
}

void UarPages::look_everywhere() {
  ask_queues_ = !queues_.empty();
  for (const std::uint32_t index : used_)
    registers_[index].left = static_cast<std::uint32_t>(registers_[index].queue_pairs.size());
}

bool UarPages::can_wake() const {
  for (std::uint32_t page = 0; page < count_; ++page) {
    if (in_use(page) && !pages_of_[page].faults) return false;
  }
  return true;
}

bool UarPages::owes_store() const {
  return std::any_of(pages_of_.begin(), pages_of_.end(), [](const Page& page) { return page.owes_store; });
}

void UarPages::take_away() {
  away_ = true;
  for (std::uint32_t page = 0; page < count_; ++page) {
    if (!in_use(page)) continue;
    const auto at = static_cast<off_t>(page * kPageBytes);
    if (fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, kPageBytes) != 0) away_ = false;
  }
}

void UarPages::going_to_sleep(transport::Time now) {
  if (used_.empty() && queues_.empty()) return;
  if (owes_store()) {
    look_again_ = now + kStoreRest;
    for (Page& page : pages_of_) page.owes_store = false;  // its program may have ended
    return;
  }
  if (can_wake()) take_away();
  look_everywhere();
  const bool in_error = std::any_of(used_.begin(), used_.end(), [this](std::uint32_t index) {
    const auto& queue_pairs = registers_[index].queue_pairs;
    return std::any_of(queue_pairs.begin(), queue_pairs.end(), [](const QueuePairContext* each) {
      return each->state() == transport::QpState::error;
    });
  });
  if (!away_) {
    rest_ = std::clamp(rest_ + rest_ / 8, kShortRest, kLongRest);
    look_again_ = now + rest_;
  } else if (in_error) {
    look_again_ = now + kErrorRest;
  }
}

void UarPages::awake() {
  look_again_.reset();
  if (!away_) return;
  away_ = false;
  for (std::uint32_t number = 0; number < count_; ++number) {
    if (!in_use(number)) continue;
    Page& page = pages_of_[number];
    // The page is there again, so a store that waits can go on.
    __atomic_store_n(word(number, 0), 0, __ATOMIC_RELAXED);
    page.owes_store = has_fault(page.faults.get());
    uffdio_range range{.start = page.address, .len = kPageBytes};
    ioctl(page.faults.get(), UFFDIO_WAKE, &range);
  }
}

}  // namespace urnic::engine
