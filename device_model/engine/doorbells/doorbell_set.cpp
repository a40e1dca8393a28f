#include "device_model/engine/doorbells/doorbell_set.hpp"

#include <algorithm>
#include <bit>

#include "device_model/engine/queue_pair/queue_pair_context.hpp"

namespace urnic::engine {

DoorbellSet::DoorbellSet(abi::Doorbells& doorbells, int wake) : doorbells_(doorbells), wake_(wake) {}

void DoorbellSet::attach(std::uint32_t number, QueuePairContext& queue_pair) {
  if (number >= bells_.size()) bells_.resize(number + 1);
  bells_[number] = {&queue_pair, queue_pair.send_producer()};
}

void DoorbellSet::attach(std::uint32_t number, DoorbellTarget& target) { others_[number] = &target; }

void DoorbellSet::detach(std::uint32_t number) {
  others_.erase(number);
  if (number < bells_.size()) bells_[number] = {};
}

// Reads the summary before the words: a ringer sets the word first, so that a doorbell that this exchange
// misses shows at the next look.
void DoorbellSet::look_at_summary() {
  for (std::uint32_t i = 0; i < kGroups; ++i) {
    if (doorbells_.summary[i].load(std::memory_order_relaxed) == 0) continue;
    waiting_[i] |= doorbells_.summary[i].exchange(0);
    if (waiting_[i] != 0) waiting_groups_ |= 1u << i;  // the program may have cleared it meanwhile
  }
}

bool DoorbellSet::rung() const {
  return has_more() || std::any_of(doorbells_.summary.begin(), doorbells_.summary.end(),
                                   [](const auto& words) { return words.load() != 0; });
}

// Takes a waiting word: the first from `next_` on, wrapping around.
std::optional<std::uint32_t> DoorbellSet::next_word() {
  if (waiting_groups_ == 0) return {};
  std::uint32_t group = next_ / 64;
  std::uint64_t words = waiting_[group] & ~std::uint64_t{0} << (next_ % 64);
  if (words == 0) {
    const std::uint32_t behind = waiting_groups_ & ~1u << group;
    group = static_cast<std::uint32_t>(std::countr_zero(behind != 0 ? behind : waiting_groups_));
    words = waiting_[group];
  }
  const auto bit = static_cast<std::uint32_t>(std::countr_zero(words));
  waiting_[group] &= ~(std::uint64_t{1} << bit);
  if (waiting_[group] == 0) waiting_groups_ &= ~(1u << group);
  const std::uint32_t word = group * 64 + bit;
  next_ = (word + 1) % (kGroups * 64);
  return word;
}

std::uint32_t DoorbellSet::collect_word() {
  if (left_over_ == 0) {
    look_at_summary();
    const auto word = next_word();
    if (!word) return 0;
    left_over_word_ = *word;
    left_over_ = doorbells_.bits[*word].exchange(0);
  }
  const std::uint64_t taken = meant_ == 0 ? some_of(left_over_) : left_over_;
  left_over_ &= ~taken;
  meant_ = call_word(left_over_word_, taken);
  return meant_ == 0 ? kCostOfNothing : 1 + static_cast<std::uint32_t>(std::popcount(taken));
}

// The lowest kForNothing set bits.
std::uint64_t DoorbellSet::some_of(std::uint64_t bits) {
  std::uint64_t rest = bits;
  for (std::uint32_t i = 0; i < kForNothing; ++i) rest &= rest - 1;
  return bits & ~rest;
}

std::uint32_t DoorbellSet::collect() {
  std::uint32_t meant = 0;
  while (collect_word() != 0) meant += meant_;
  return meant;
}

std::uint32_t DoorbellSet::call_word(std::uint32_t word, std::uint64_t all) {
  const auto number_of = [word](std::uint64_t bits) {
    return word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
  };
  // With thousands of QPs in turn, each comes from main memory: loads all at once, not one after the other.
  if ((all & (all - 1)) != 0) {
    for (std::uint64_t bits = all; bits != 0; bits &= bits - 1) {
      const Bell next = bell(number_of(bits));
      if (next.queue_pair == nullptr) continue;
      __builtin_prefetch(next.send_producer);
      next.queue_pair->prefetch();
    }
  }
  std::uint32_t meant = 0;
  for (std::uint64_t bits = all; bits != 0; bits &= bits - 1) {
    QueuePairContext* const rang = bell(number_of(bits)).queue_pair;
    if (rang == nullptr) {
      meant += ring_other(number_of(bits));
      continue;
    }
    if (rang->doorbell()) ++meant;
  }
  return meant;
}

std::uint32_t DoorbellSet::ring_other(std::uint32_t number) {
  const auto found = others_.find(number);
  if (found == others_.end()) return 0;
  found->second->doorbell();
  return 1;
}

}  // namespace urnic::engine
