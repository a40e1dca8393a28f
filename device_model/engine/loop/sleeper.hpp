// How the engine sleeps and is woken: the status page that posters look at, and the eventfds that they write
// to when it says that the engine sleeps.
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

  // Whoever holds this can map the page, but only for reading.
  int status_descriptor() const { return read_only_status_.get(); }

  // Engine thread. Eventfds that wake; they stay open until removed. Throws std::system_error.
  void add(int eventfd);
  void remove(int eventfd);

  // Going to sleep takes three steps: `announce`, a last look at everything that might have come without a
  // wake-up, then `wait`. `announce` orders the look behind what it publishes.
  void announce();
  // Until an eventfd is written, or `deadline`; at once if one was written since the last wait.
  void wait(transport::Time now, std::optional<transport::Time> deadline);
  // Takes the announcement back.
  void awake();

  // Any thread: it is announced that the engine sleeps.
  bool asleep() const { return page_->sleeping.load(std::memory_order_relaxed) != 0; }

  // What the page says of the engine's share of the processors.
  void say_starved(bool starved) { page_->starved.store(starved ? 1 : 0, std::memory_order_relaxed); }

  // Any thread, after it stored what the engine should see: wakes it if it sleeps or is about to.
  void wake_if_asleep();

 private:
  memory::Descriptor status_;
  memory::Descriptor read_only_status_;
  memory::Descriptor epoll_;
  memory::Descriptor own_wake_;
  abi::EngineStatus* page_ = nullptr;
};

}  // namespace urnic::engine
