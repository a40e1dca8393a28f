// The descriptors of a carrier as one that the engine sleeps on.
#pragma once

#include <sys/epoll.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

#include "device_model/memory/descriptor.hpp"

namespace urnic::link {

class WakeSet {
 public:
  WakeSet() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    if (!epoll_) throw std::system_error(errno, std::generic_category(), "epoll_create1");
  }

  int descriptor() const { return epoll_.get(); }
  // Wakes when `watched` has something to read. Closing `watched` ends that.
  void add(int watched) { control(EPOLL_CTL_ADD, watched, EPOLLIN); }
  // Of one descriptor of the set: wakes also when it takes more to send, or no longer does.
  void watch_for_room(int watched, bool watch) {
    if (watch == watches_for_room_) return;
    watches_for_room_ = watch;
    control(EPOLL_CTL_MOD, watched, EPOLLIN | (watch ? std::uint32_t{EPOLLOUT} : 0u));
  }
  // The descriptor that was watched for room is closed.
  void forget_room() { watches_for_room_ = false; }

 private:
  void control(int operation, int watched, std::uint32_t events) {
    epoll_event event{.events = events, .data = {}};
    epoll_ctl(epoll_.get(), operation, watched, &event);
  }

  memory::Descriptor epoll_;
  bool watches_for_room_ = false;
};

}  // namespace urnic::link
