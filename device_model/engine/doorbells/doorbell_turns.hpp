// Takes the doorbells of all contexts of an engine, a word of them at a time and from one context after the
// other, so that a program that rings thousands of them keeps neither the engine's rounds nor the doorbells
// of others waiting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace urnic::engine {

class DoorbellSet;

// Engine thread only.
class DoorbellTurns {
 public:
  // Doorbells taken between two rounds of the data path, but for the rest of the last word: with work, they
  // have more to send than a round takes. Of those that are rung for nothing a look takes far fewer.
  static constexpr std::uint32_t kPerLook = 256;

  void add(DoorbellSet& set) { sets_.push_back(&set); }
  void remove(DoorbellSet& set);

  // Returns whether there was something to take, or there is more.
  bool look();

 private:
  std::vector<DoorbellSet*> sets_;
  std::size_t next_ = 0;  // whose turn it is
};

}  // namespace urnic::engine
