// What GET_EVENT answers.
#pragma once

#include <cstdint>

#include "device_model/control/rdma_cm/command_layouts.hpp"

namespace urnic::control::rdma_cm {

// enum rdma_cm_event_type of <rdma/rdma_cma.h>.
enum class EventType : std::uint32_t {
  address_resolved = 0,
  address_error = 1,
  route_resolved = 2,
  route_error = 3,
  connect_request = 4,
  connect_response = 5,
  connect_error = 6,
  unreachable = 7,
  rejected = 8,
  established = 9,
  disconnected = 10,
  device_removal = 11,
  multicast_join = 12,
  multicast_error = 13,
  address_change = 14,
  time_wait_exit = 15,
  user = 19,
};

struct Id;
struct Multicast;

// An event that is queued. What it points to outlives it: an object takes its events with it.
struct Event {
  rdma_ucm_event_resp answer{};
  Id* id = nullptr;                // whose event it is: of a request, the listener's
  Multicast* multicast = nullptr;  // whose event it is, too
};

}  // namespace urnic::control::rdma_cm
