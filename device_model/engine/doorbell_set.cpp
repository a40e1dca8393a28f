#include "device_model/engine/doorbell_set.hpp"

#include <bit>

#include "device_model/engine/hosted_queue_pair.hpp"

namespace urnic::engine {

DoorbellSet::DoorbellSet(abi::Doorbells& doorbells, int wake) : doorbells_(doorbells), wake_(wake) {}

void DoorbellSet::attach(std::uint32_t number, HostedQueuePair& queue_pair) {
  if (number >= queue_pairs_.size()) queue_pairs_.resize(number + 1);
  queue_pairs_[number] = &queue_pair;
}

void DoorbellSet::detach(std::uint32_t number) {
  if (number < queue_pairs_.size()) queue_pairs_[number] = nullptr;
}

std::uint32_t DoorbellSet::collect() {
  std::uint32_t rung = 0;
  for (std::uint32_t i = 0; i < doorbells_.summary.size(); ++i) {
    // The summary before the words: a ringer sets them in the other order, so that what it adds behind this
    // exchange shows at the next look.
    if (doorbells_.summary[i].load(std::memory_order_relaxed) == 0) continue;
    std::uint64_t words = doorbells_.summary[i].exchange(0);
    for (; words != 0; words &= words - 1) {
      rung += collect_word(i * 64 + static_cast<std::uint32_t>(std::countr_zero(words)));
    }
  }
  return rung;
}

std::uint32_t DoorbellSet::collect_word(std::uint32_t word) {
  std::uint32_t rung = 0;
  for (std::uint64_t bits = doorbells_.bits[word].exchange(0); bits != 0; bits &= bits - 1) {
    const std::uint32_t number = word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
    if (number >= queue_pairs_.size() || queue_pairs_[number] == nullptr) continue;
    queue_pairs_[number]->doorbell();
    ++rung;
  }
  return rung;
}

}  // namespace urnic::engine
