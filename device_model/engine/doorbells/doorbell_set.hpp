// The engine's end of one context's doorbells: which QP, or what else, each doorbell number
// means, and the eventfd that wakes.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "device_model/abi/doorbells.hpp"
#include "device_model/engine/rings/doorbell_target.hpp"

namespace urnic::engine {

class QueuePairContext;

class DoorbellSet {
 public:
  // `doorbells` is the shared mapping, `wake` the eventfd; both belong to the context and outlive this.
  DoorbellSet(abi::Doorbells& doorbells, int wake);

  // Engine thread only. `number` was not in use; ringing it calls the QP's doorbell().
  void attach(std::uint32_t number, QueuePairContext& queue_pair);
  void attach(std::uint32_t number, DoorbellTarget& target);
  void detach(std::uint32_t number);
  int wake_descriptor() const { return wake_; }

  // Takes the rung doorbells of one word, 64 at most, and calls what they stand for. A bit that nothing has
  // is ignored. The words have their turns, beginning behind the last one. A program that rings for nothing
  // has but kForNothing doorbells taken at once, until one means something. Returns what that has cost: 1 for
  // the word and 1 for each bit, or kCostOfNothing if none meant something; 0: no doorbell was rung.
  std::uint32_t collect_word();
  static constexpr std::uint32_t kForNothing = 4;
  static constexpr std::uint32_t kCostOfNothing = 64;
  // There are words that were seen to have rung doorbells and have not had their turn.
  bool has_more() const { return waiting_groups_ != 0 || left_over_ != 0; }
  // All words at once. Returns how many doorbells meant something.
  std::uint32_t collect();

 private:
  // What the doorbell's number stands for; the producer index is what the QP looks at first.
  struct Bell {
    QueuePairContext* queue_pair = nullptr;  // null: no QP has it
    const std::atomic<std::uint32_t>* send_producer = nullptr;
  };

  void look_at_summary();
  std::optional<std::uint32_t> next_word();
  std::uint32_t call_word(std::uint32_t word, std::uint64_t all);
  std::uint32_t ring_other(std::uint32_t number);
  static std::uint64_t some_of(std::uint64_t bits);
  Bell bell(std::uint32_t number) const { return number < bells_.size() ? bells_[number] : Bell{}; }

  abi::Doorbells& doorbells_;
  int wake_;
  std::vector<Bell> bells_;                                    // by doorbell number
  std::unordered_map<std::uint32_t, DoorbellTarget*> others_;  // those that are no QP's
  // Taken from the summary; the words that they stand for are still to be taken. A bit of `waiting_groups_`
  // is set for each of the summary's words of which something is.
  static constexpr std::size_t kGroups = std::tuple_size_v<decltype(abi::Doorbells::summary)>;
  static_assert(kGroups <= 32);
  std::array<std::uint64_t, kGroups> waiting_{};
  std::uint32_t waiting_groups_ = 0;
  std::uint32_t next_ = 0;  // the word whose turn it is
  // Doorbells of a word that was taken and not had all of its turn.
  std::uint64_t left_over_ = 0;
  std::uint32_t left_over_word_ = 0;
  std::uint32_t meant_ = 1;  // how many meant something when some were taken last
};

}  // namespace urnic::engine
