// The receivers of a QP's asynchronous events: the program that created it, and programs that opened it
// (ibv_open_qp(3)).
#pragma once

#include <cstdint>
#include <vector>

#include "device_model/engine/completion/event_pipe.hpp"
#include "device_model/transport/host.hpp"

namespace urnic::engine {

class EventListeners {
 public:
  struct Listener {
    // Engine thread only.
    void tell(transport::AsyncEvent event) {
      ++told;
      pipe->push(source, user_handle, static_cast<std::uint32_t>(event));
    }

    EventPipe* pipe;
    std::uint64_t user_handle;  // what the events carry
    std::uint32_t source;       // the number of the opener's EventSource
    std::uint32_t told;         // number of events sent
  };

  // `pipe` outlives the listener.
  void add(EventPipe& pipe, std::uint64_t user_handle, std::uint32_t source) {
    all_.push_back({&pipe, user_handle, source, 0});
  }
  // Returns how many events it was sent; 0 if there is no such listener.
  std::uint32_t remove(std::uint32_t source) {
    for (auto listener = all_.begin(); listener != all_.end(); ++listener) {
      if (listener->source != source) continue;
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
