// Where in an area of memory the messages under way lie: one behind the other, freed in the order in which
// they were taken.
#pragma once

#include <cstddef>
#include <optional>

namespace urnic::apps {

class SoakPlaces {
 public:
  // Places from `begin` to `end`.
  SoakPlaces(std::size_t begin, std::size_t end) : begin_(begin), end_(end), next_(begin), oldest_(begin) {}

  // The beginning of a place of `size` bytes; nothing if that must wait until others are freed.
  std::optional<std::size_t> take(std::size_t size) {
    if (used_ == 0) next_ = oldest_ = begin_;
    // Free is from next_ to end_ and from begin_ to oldest_, or, once round the end, from next_ to oldest_.
    const bool is_round = used_ > 0 && next_ <= oldest_;
    if (next_ + size > (is_round ? oldest_ : end_)) {
      if (is_round || begin_ + size > oldest_) return std::nullopt;
      next_ = begin_;
    }
    const std::size_t place = next_;
    next_ += size;
    ++used_;
    return place;
  }

  // Frees the oldest; the next oldest begins at `next_oldest`, if there is one.
  void free(std::optional<std::size_t> next_oldest) {
    --used_;
    if (next_oldest) oldest_ = *next_oldest;
  }

 private:
  const std::size_t begin_;
  const std::size_t end_;
  std::size_t next_;
  std::size_t oldest_;
  std::size_t used_ = 0;
};

}  // namespace urnic::apps
