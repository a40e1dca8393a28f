// Which service ids have a listener, and how many of its requests wait for an answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "device_model/cm/backlog.hpp"
#include "device_model/cm/parameters.hpp"

namespace urnic::cm {

class Listeners {
 public:
  explicit Listeners(std::size_t limit) : limit_(limit) {}

  Result add(ServiceId service, std::uint32_t backlog);
  void remove(ServiceId service) { listeners_.erase(service); }
  bool has(ServiceId service) const { return listeners_.contains(service); }
  std::size_t size() const { return listeners_.size(); }
  // A place for a request to a listener that is there; empty: the backlog is full.
  std::optional<BacklogPlace> take_place(ServiceId service);

 private:
  struct Listener {
    std::uint32_t backlog = 0;
    std::shared_ptr<std::uint32_t> waiting = std::make_shared<std::uint32_t>(0);
  };
  std::size_t limit_;
  std::map<ServiceId, Listener> listeners_;
};

}  // namespace urnic::cm
