#include "device_model/engine/completion/unread_sources.hpp"

#include <algorithm>

namespace urnic::engine {

namespace {

constexpr std::size_t kFirstRoom = 16;

}  // namespace

// Grows when more than half is unread, so that `unread` is asked for at most once in as many records as half
// the room.
bool UnreadSources::make_room_beside(std::size_t unread) {
  const std::size_t still_unread = std::min(unread, kept_);
  if (still_unread <= ring_.size() / 2 && !ring_.empty()) {
    kept_ = still_unread;
    return true;
  }
  if (still_unread >= kMost) return false;
  const std::size_t room = std::max(2 * ring_.size(), kFirstRoom);
  std::vector<std::uint32_t> sources = take_newest(still_unread);
  next_ = kept_ = sources.size();
  sources.resize(room);
  ring_ = std::move(sources);
  return true;
}

std::vector<std::uint32_t> UnreadSources::take_newest(std::size_t count) {
  std::vector<std::uint32_t> newest(count);
  const std::size_t known = std::min(count, kept_);
  for (std::size_t back = 1; back <= known; ++back)
    newest[count - back] = ring_[(next_ - back) % ring_.size()];
  kept_ = 0;
  return newest;
}

}  // namespace urnic::engine
