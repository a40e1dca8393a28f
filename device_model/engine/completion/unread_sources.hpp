// The sources of the records in a pipe that its program may not have read yet, in the order of writing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace urnic::engine {

// A program reads without telling. So this keeps a little more than what is unread, and asks only when it is
// full.
class UnreadSources {
 public:
  // More records than a pipe of an unprivileged program holds (pipe(7): 1 MiB, of 8 bytes each).
  static constexpr std::size_t kMost = 128 * 1024;

  // Makes room for one more. `unread` returns the number of records in the pipe; it is called only if the
  // room is used up. False: kMost are unread.
  template <typename Unread>
  bool make_room(Unread unread) {
    return kept_ < ring_.size() || make_room_beside(unread());
  }
  // After make_room.
  void add(std::uint32_t source) {
    ring_[next_++ % ring_.size()] = source;
    ++kept_;
  }
  // The sources of the `count` newest records, the oldest of them first; 0 for those that are not known.
  // Afterwards none is kept.
  std::vector<std::uint32_t> take_newest(std::size_t count);

 private:
  bool make_room_beside(std::size_t unread);

  std::vector<std::uint32_t> ring_;  // its length is a power of two, or 0
  std::size_t next_ = 0;             // where the next one goes, modulo the length
  std::size_t kept_ = 0;
};

}  // namespace urnic::engine
