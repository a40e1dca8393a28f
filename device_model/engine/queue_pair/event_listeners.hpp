// The receivers of a QP's asynchronous events: the program that created it, and programs that opened it
// (ibv_open_qp(3)).
#pragma once

#include <cstdint>
#include <vector>

namespace urnic::engine {

class EventPipe;

class EventListeners {
 public:
  struct Listener {
    EventPipe* pipe;
    std::uint64_t user_handle;  // what the events carry
    std::uint32_t told;         // number of events sent
  };

  // `pipe` outlives the listener.
  void add(EventPipe& pipe, std::uint64_t user_handle) { all_.push_back({&pipe, user_handle, 0}); }
  // Returns how many events were sent to it; 0 if it is not a listener.
  std::uint32_t remove(const EventPipe& pipe, std::uint64_t user_handle) {
    for (auto listener = all_.begin(); listener != all_.end(); ++listener) {
      if (listener->pipe != &pipe || listener->user_handle != user_handle) continue;
      const std::uint32_t told = listener->told;
      all_.erase(listener);
      return told;
    }
    return 0;
  }
  auto begin() { return all_.begin(); }
  auto end() { return all_.end(); }

 private:
  std::vector<Listener> all_;
};

}  // namespace urnic::engine
