// The engine's end of one context's doorbells: the QP or other target of each doorbell number, and the
// eventfd that wakes the engine.
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

  // Engine thread only. `number` must be free; ringing it calls the target's doorbell().
  void attach(std::uint32_t number, QueuePairContext& queue_pair);
  void attach(std::uint32_t number, DoorbellTarget& target);
  void detach(std::uint32_t number);
  int wake_descriptor() const { return wake_; }

  // Takes the rung doorbells of one word, at most 64, and calls their targets. Ignores bits without a target.
  // Words take turns. After a doorbell without effect takes at most kForNothing doorbells at once, until one
  // has an effect. Returns the cost: 1 for the word and 1 for each bit, or kCostOfNothing if none had an
  // effect; 0: no doorbell was rung.
  std::uint32_t collect_word();
  static constexpr std::uint32_t kForNothing = 4;
  static constexpr std::uint32_t kCostOfNothing = 64;
  // Words with rung doorbells are waiting for their turn.
  bool has_more() const { return waiting_groups_ != 0 || left_over_ != 0; }
  // Words with rung doorbells are waiting to be looked at, or for their turn. Ordered behind the message of a
  // program that rang before it sent the message.
  bool rung() const;
  // All words at once. Returns how many doorbells had an effect.
  std::uint32_t collect();

 private:
  // The target of a doorbell number; the QP reads the producer index first.
  struct Bell {
    QueuePairContext* queue_pair = nullptr;  // null: no QP has it
    const void* send_producer = nullptr;
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
  std::unordered_map<std::uint32_t, DoorbellTarget*> others_;  // targets that are no QPs
  // Bits taken from the summary whose words are still to be taken. A bit of `waiting_groups_` is set for each
  // word of the summary with such bits.
  static constexpr std::size_t kGroups = std::tuple_size_v<decltype(abi::Doorbells::summary)>;
  static_assert(kGroups <= 32);
  std::array<std::uint64_t, kGroups> waiting_{};
  std::uint32_t waiting_groups_ = 0;
  std::uint32_t next_ = 0;  // the next word in turn
  // Rung doorbells of a word that was taken and not finished.
  std::uint64_t left_over_ = 0;
  std::uint32_t left_over_word_ = 0;
  std::uint32_t meant_ = 1;  // how many of the doorbells taken last had an effect
};

}  // namespace urnic::engine
