#include "device_model/engine/batch/atomic_run.hpp"

#include <span>

namespace urnic::engine {

namespace {

// Page sizes are multiples of 4 KiB: wherever a page is mapped, a word's address keeps at least these bits.
constexpr std::uint64_t place_in_page(std::uint64_t address) { return address & 0xFFF; }

}  // namespace

bool AtomicRun::takes(const MemoryAction& action) const {
  if (operations_ == kMaxOperations) return false;
  for (std::uint32_t word = words_; word-- > 0;) {
    if (is_word(word, action)) return true;
    if (place_in_page(access_[word].address) == place_in_page(action.address)) return false;
  }
  return true;
}

void AtomicRun::add(const MemoryAction& action, std::uint32_t index) {
  operation_[operations_++] = {index, word_for(action)};
}

// Words are aligned (IBTA 9.4.5.1), so two words are the same or do not overlap. Programs use few at a time.
std::uint32_t AtomicRun::word_for(const MemoryAction& action) {
  for (std::uint32_t word = words_; word-- > 0;) {
    if (is_word(word, action)) return word;
  }
  word_[words_] = {.memory = action.memory, .in_place = action.memory->word_in_place(action.address)};
  access_[words_] = {.address = action.address,
                     .local = std::as_writable_bytes(std::span{&word_[words_].value, 1}),
                     .failed = false};
  return words_++;
}

// One call for adjacent words of the same process.
void AtomicRun::read_words() {
  for (std::uint32_t begin = 0; begin < words_;) {
    if (is_in_place(begin)) {
      ++begin;
      continue;
    }
    std::uint32_t end = begin + 1;
    while (end < words_ && word_[end].memory == word_[begin].memory && !is_in_place(end)) ++end;
    copying_with_.store(word_[begin].memory->owner(), std::memory_order_relaxed);
    word_[begin].memory->read({&access_[begin], end - begin});
    begin = end;
  }
}

// As ibv_wr_atomic_cmp_swp(3) and ibv_wr_atomic_fetch_add(3), on memory that a program uses meanwhile.
void AtomicRun::operate(const AtomicOperands& operands, std::uint64_t& word) {
  const std::atomic_ref shared(word);
  if (operands.kind == transport::AtomicKind::compare_swap) {
    *operands.original = operands.compare;
    shared.compare_exchange_strong(*operands.original, operands.swap_or_add);
  } else {
    *operands.original = shared.fetch_add(operands.swap_or_add);
  }
}

void AtomicRun::compute(const AtomicOperands& operands, std::uint32_t word) {
  if (is_in_place(word)) return operate(operands, *word_[word].in_place);
  std::uint64_t& value = word_[word].value;
  *operands.original = value;
  const bool swaps = operands.kind == transport::AtomicKind::compare_swap;
  if (swaps && value != operands.compare) return;
  value = swaps ? operands.swap_or_add : value + operands.swap_or_add;
  word_[word].changed = true;
}

void AtomicRun::write_words() {
  std::array<memory::Transfer, kMaxOperations> writes;
  std::array<std::uint32_t, kMaxOperations> origin;
  for (std::uint32_t begin = 0; begin < words_;) {
    if (is_in_place(begin)) {
      ++begin;
      continue;
    }
    std::uint32_t count = 0;
    std::uint32_t end = begin;
    for (; end < words_ && word_[end].memory == word_[begin].memory && !is_in_place(end); ++end) {
      if (!word_[end].changed) continue;
      writes[count] = access_[end];
      origin[count++] = end;
    }
    copying_with_.store(word_[begin].memory->owner(), std::memory_order_relaxed);
    if (count != 0) word_[begin].memory->write({writes.data(), count});
    for (std::uint32_t i = 0; i < count; ++i) word_[origin[i]].write_failed = writes[i].failed;
    begin = end;
  }
  copying_with_.store(0, std::memory_order_relaxed);
}

}  // namespace urnic::engine
