// One deadline for each connection or SIDR request at most, in the order of time.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "device_model/cm/host.hpp"
#include "device_model/transport/time.hpp"
#include "wire/mad/identifiers.hpp"

namespace urnic::cm {

class Timers {
 public:
  explicit Timers(Host& host) : host_(host) {}

  // Replaces the id's deadline.
  void set(wire::mad::CommunicationId id, Time deadline);
  void cancel(wire::mad::CommunicationId id);
  // Takes out the id with the earliest deadline that is not after `now`.
  std::optional<wire::mad::CommunicationId> take_due(Time now);
  std::optional<Time> earliest() const;
  std::size_t size() const { return deadlines_.size(); }
  // The host has called: asks it for the next time.
  void woken();

 private:
  Host& host_;
  std::map<wire::mad::CommunicationId, Time> deadlines_;
  std::set<std::pair<Time, wire::mad::CommunicationId>> order_;
  std::optional<Time> asked_;  // what the host was asked for last
};

}  // namespace urnic::cm
