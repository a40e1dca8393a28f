// Objects that steer frames to queue pairs: RSS QPs, flows and their counters.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device_model/control/objects/queue_objects.hpp"
#include "device_model/engine/steering/rss_table.hpp"
#include "device_model/engine/steering/steering_table.hpp"

namespace urnic::control {

// Flows may refer to it.
struct RssQueuePair : Usable {
  Share share;
  Charge charge;
  Use<ProtectionDomain> pd;
  std::vector<Use<QueuePair>> queues;
  std::unique_ptr<engine::RssTable> rss_table;
  // As in SteeringTarget.
  bool hides_own_unicast = false;
  bool hides_own_groups = false;
};

// Flows count into it.
struct FlowCounters : Usable {
  Share share;
  engine::RuleCounters values;  // changed by the engine
};

// Leads to a QP or to an RSS QP.
struct Flow {
  Share share;
  Use<QueuePair> qp;
  Use<RssQueuePair> rss_qp;
  Use<FlowCounters> counters;  // or null
  std::uint32_t number = 0;    // its rule's number in the device
};

}  // namespace urnic::control
