// How the engine sleeps and wakes: programs read the status page, and write to an eventfd when the page says
// that the engine sleeps.
#pragma once

#include <optional>

#include "device_model/abi/doorbells.hpp"
#include "device_model/memory/descriptor.hpp"
#include "device_model/transport/time.hpp"

namespace urnic::engine {

class Sleeper {
 public:
  // Throws std::system_error.
  Sleeper();
  ~Sleeper();
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  // The descriptor can be mapped for reading only.
  int status_descriptor() const { return read_only_status_.get(); }

  // Engine thread. Eventfds and sockets that wake the engine; they stay open until removed. Throws
  // std::system_error.
  void add(int descriptor);
  void remove(int descriptor);

  // Going to sleep takes three steps: `announce`, a last look for work that came without a wake-up, then
  // `wait`. `announce` orders that look after its store.
  void announce();
  // Returns when an eventfd is written, at `deadline`, or at once if one was written since the last wait.
  void wait(transport::Time now, std::optional<transport::Time> deadline);
  // Ends the announcement.
  void awake();

  // Any thread: the engine has announced that it sleeps.
  bool asleep() const { return page_->sleeping.load(std::memory_order_relaxed) != 0; }

  // Publishes on the status page whether the engine is starved.
  void say_starved(bool starved) { page_->starved.store(starved ? 1 : 0, std::memory_order_relaxed); }

  // Any thread, after storing something for the engine: wakes it if it sleeps or is about to.
  void wake_if_asleep();

 private:
  memory::Descriptor status_;
  memory::Descriptor read_only_status_;
  memory::Descriptor epoll_;
  memory::Descriptor own_wake_;
  abi::EngineStatus* page_ = nullptr;
};

}  // namespace urnic::engine
