// The receivers of a QP's asynchronous events: the program that created it, and programs that opened it
// (ibv_open_qp(3)).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "device_model/engine/completion/event_source.hpp"

namespace urnic::engine {

class EventPipe;

class EventListeners {
 public:
  struct Listener {
    EventPipe* pipe;
    std::uint64_t user_handle;  // what the events carry
    std::uint32_t told;         // number of events sent
    EventSource source;
  };

  // `pipe` outlives the listener.
  void add(EventPipe& pipe, std::uint64_t user_handle) { all_.push_back({&pipe, user_handle, 0, {}}); }
  // Returns what it was; nothing if it is not a listener.
  std::optional<Listener> remove(const EventPipe& pipe, std::uint64_t user_handle) {
    for (auto listener = all_.begin(); listener != all_.end(); ++listener) {
      if (listener->pipe != &pipe || listener->user_handle != user_handle) continue;
      const Listener removed = *listener;
      all_.erase(listener);
      return removed;
    }
    return {};
  }
  auto begin() { return all_.begin(); }
  auto end() { return all_.end(); }

 private:
  std::vector<Listener> all_;
};

}  // namespace urnic::engine
