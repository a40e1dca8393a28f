#include "device_model/engine/doorbells/uar_pages.hpp"

#include <algorithm>
#include <utility>

#include "device_model/engine/completion/completion_queue.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"

namespace urnic::engine {

namespace {

// Between two looks of an engine that no store wakes: soon after work, and later.
constexpr transport::Nanoseconds kShortRest{100'000};
constexpr transport::Nanoseconds kLongRest{2'000'000};
constexpr transport::Nanoseconds kNoRest = transport::Nanoseconds::max();
// How often an engine that is awake asks for stores into pages that are away: a system call.
constexpr transport::Nanoseconds kAttention{20'000};
// For a thread whose store has waited, to have its turn: first as long as it takes if a processor is free,
// then longer. Behind the longest the program counts as ended.
constexpr transport::Nanoseconds kFirstStoreRest{5'000};
constexpr transport::Nanoseconds kLongestStoreRest{1'280'000};
// Receives have no register: so late receives of a QP in the error state are found by looking.
constexpr transport::Nanoseconds kErrorRest{5'000'000};

}  // namespace

UarPages::UarPages(std::byte* pages, std::uint32_t count, int file, Round& round)
    : pages_(pages), count_(count), round_(round), registers_(count * kRegistersPerPage) {
  pages_of_.reserve(count);
  for (std::uint32_t page = 0; page < count; ++page) pages_of_.push_back({.memory = {file, page}});
}

UarRegister UarPages::least_used(std::uint32_t pages) const {
  const auto end = registers_.begin() + std::min(pages, count_) * kRegistersPerPage;
  const auto least = std::min_element(registers_.begin(), end, [](const auto& a, const auto& b) {
    return a.queue_pairs.size() < b.queue_pairs.size();
  });
  return {static_cast<std::uint32_t>(least - registers_.begin())};
}

void UarPages::attach(UarRegister on, QueuePairContext& queue_pair) {
  Register& place = registers_[on.value];
  place.queue_pairs.push_back(&queue_pair);
  if (place.queue_pairs.size() == 1) used_.push_back(on.value);
  ++pages_of_[on.value / kRegistersPerPage].users;
  look_soon(on.value / kRegistersPerPage);
}

void UarPages::detach(UarRegister on, const QueuePairContext& queue_pair) {
  Register& place = registers_[on.value];
  if (std::erase(place.queue_pairs, &queue_pair) == 0) return;
  place.next = 0;
  place.left = place.left == 0 ? 0 : static_cast<std::uint32_t>(place.queue_pairs.size());
  if (place.queue_pairs.empty()) std::erase(used_, on.value);
  --pages_of_[on.value / kRegistersPerPage].users;
}

void UarPages::attach(CompletionQueue& queue, std::uint32_t page) {
  queues_.push_back({&queue, page});
  if (++pages_of_[page].queues == 1) asked_.push_back(page);
  queue.pass(this, page);
  close(page);  // the program has asked for nothing yet
  look_soon(page);
}

void UarPages::detach(const CompletionQueue& queue) {
  const auto found = std::find_if(queues_.begin(), queues_.end(),
                                  [&queue](const Queue& each) { return each.queue == &queue; });
  if (found == queues_.end()) return;
  if (--pages_of_[found->page].queues == 0) std::erase(asked_, found->page);
  found->queue->pass(nullptr, 0);
  queues_.erase(found);
}

void UarPages::hold(std::uint32_t page, PageHolder holder) {
  if (is_page_away(page)) give_back(page);
  look_again_ = round_.now();
  pages_of_[page].memory.hold(holder);
}

memory::Descriptor UarPages::watch(std::uint32_t page, PageHolder holder, memory::Descriptor faults,
                                   std::uint64_t address) {
  if (is_page_away(page)) give_back(page);
  look_again_ = round_.now();
  return pages_of_[page].memory.watch(holder, std::move(faults), address);
}

std::vector<memory::Descriptor> UarPages::release(PageHolder holder) {
  std::vector<memory::Descriptor> ended;
  for (Page& page : pages_of_) {
    for (memory::Descriptor& faults : page.memory.release(holder)) ended.push_back(std::move(faults));
  }
  return ended;
}

std::vector<memory::Descriptor> UarPages::release_all(std::uint32_t page) {
  if (is_page_away(page)) give_back(page);
  return pages_of_[page].memory.release_all();
}

std::vector<memory::Descriptor> UarPages::release_all() {
  std::vector<memory::Descriptor> ended;
  for (std::uint32_t page = 0; page < count_; ++page) {
    for (memory::Descriptor& faults : release_all(page)) ended.push_back(std::move(faults));
  }
  return ended;
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
           if (is_away(index)) return false;  // a look would bring the page back, and no store would wake
           const std::size_t at = kFirstRegister + index % kRegistersPerPage * kRegisterBytes;
           return *word(index / kRegistersPerPage, at) != 0 ||
                  *word(index / kRegistersPerPage, at + kRegisterBytes / 2) != 0;
         });
}

bool UarPages::look(std::uint32_t most) {
  take_requests();
  if (ask_queues_) look_at_requests();
  std::uint32_t looked = 0;
  bool worked = false;
  for (const std::uint32_t index : used_) {
    Register& place = registers_[index];
    if (!is_away(index) && was_written(index)) {
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

void UarPages::take_requests() {
  for (const std::uint32_t page : asked_) {
    if (is_page_away(page) || !take(word(page, kArmRegister))) continue;
    ask_queues_ = true;
    pages_of_[page].owes_store = false;
  }
}

// A program may ask for an event after the CQE that it waits for was written, with the request still in its
// processor's store buffer when it found the CQ empty. A NIC compares the request's consumer index with its
// own producer index.
void UarPages::look_at_requests() {
  ask_queues_ = false;
  for (const Queue& each : queues_) round_.notifications().recheck(*each.queue, round_.now());
}

void UarPages::see_requests_on(std::uint32_t page, bool next_may_hide) {
  for (const Queue& each : queues_) {
    if (each.page != page) continue;
    each.queue->see_request();
    each.queue->requests_may_hide(next_may_hide);
  }
}

// A page for which a store has waited stays until that is there. Meanwhile no request is sure to be seen.
void UarPages::close(std::uint32_t page) {
  Page& its = pages_of_[page];
  if (its.memory.is_away() || !its.memory.can_be_taken()) return;
  const bool waits_for_store = its.owes_store && *word(page, kArmRegister) == 0;
  if (waits_for_store || !take_away(page)) return see_requests_on(page, true);
  its.owes_store = false;
  look_at_queues_on(page);
  look_again_ = round_.now();  // on the control thread, for an engine that sleeps
}

void UarPages::look_at_queues_on(std::uint32_t page) {
  if (pages_of_[page].queues != 0) ask_queues_ = true;
  for (std::uint32_t index = page * kRegistersPerPage; index < (page + 1) * kRegistersPerPage; ++index)
    registers_[index].left = static_cast<std::uint32_t>(registers_[index].queue_pairs.size());
}

bool UarPages::can_wake() const {
  for (std::uint32_t page = 0; page < count_; ++page) {
    if (in_use(page) && !pages_of_[page].memory.can_be_taken()) return false;
  }
  return true;
}

bool UarPages::any_in_error() const {
  return std::any_of(used_.begin(), used_.end(), [this](std::uint32_t index) {
    const auto& queue_pairs = registers_[index].queue_pairs;
    return std::any_of(queue_pairs.begin(), queue_pairs.end(), [](const QueuePairContext* each) {
      return each->state() == transport::QpState::error;
    });
  });
}

bool UarPages::take_away(std::uint32_t page) {
  if (!pages_of_[page].memory.take()) return false;
  ++away_;
  see_requests_on(page, false);
  return true;
}

// A program that waits for its store can store another request as soon as the page is back.
void UarPages::give_back(std::uint32_t page) {
  see_requests_on(page, true);
  --away_;
  __atomic_store_n(word(page, 0), 0, __ATOMIC_RELAXED);
  pages_of_[page].memory.given_back();
}

void UarPages::attend() {
  if (away_ != 0 && round_.now() - attended_ > kAttention) attend_to_stores(round_.now());
}

// A store that waits has its WQE's record in memory already. The store itself comes when its thread has its
// turn: until then the page must stay.
void UarPages::attend_to_stores(transport::Time now) {
  attended_ = now;
  for (std::uint32_t page = 0; page < count_; ++page) {
    if (!is_page_away(page) || !pages_of_[page].memory.is_awaited()) continue;
    give_back(page);
    pages_of_[page].owes_store = true;
    pages_of_[page].store_rest = {};
    look_at_queues_on(page);
  }
}

void UarPages::going_to_sleep(transport::Time now) {
  if (used_.empty() && queues_.empty()) return;
  const bool wakes = can_wake();
  bool again = !wakes;
  transport::Nanoseconds store_rest = kNoRest;
  for (std::uint32_t page = 0; page < count_; ++page) {
    Page& its = pages_of_[page];
    if (!in_use(page) || its.memory.is_away()) continue;
    if (its.owes_store && its.store_rest < kLongestStoreRest) {
      its.store_rest = std::max(kFirstStoreRest, 2 * its.store_rest);
      store_rest = std::min(store_rest, its.store_rest);
      continue;
    }
    its.owes_store = false;
    if (!wakes || !take_away(page)) again = true;
    look_at_queues_on(page);
  }
  if (again) rest_ = std::clamp(rest_ + rest_ / 8, kShortRest, kLongRest);
  if (store_rest != kNoRest) {
    look_again_ = now + store_rest;
  } else if (again) {
    look_again_ = now + rest_;
  } else if (any_in_error()) {
    look_again_ = now + kErrorRest;
  }
}

void UarPages::awake(transport::Time now) {
  // Late receives of QPs in the error state have no register.
  if (look_again_ && any_in_error()) {
    for (const std::uint32_t index : used_) look_at_queues_on(index / kRegistersPerPage);
  }
  look_again_.reset();
  if (away_ != 0) attend_to_stores(now);
}

}  // namespace urnic::engine
