// What leads frames to queue pairs: RSS QPs, flows and their counters.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device_model/control/objects/queue_objects.hpp"
#include "device_model/engine/steering/receive_spreading.hpp"

namespace urnic::control {

// Flows lead to it.
struct RssQueuePair : Usable {
  Share share;
  Charge charge;
  Use<ProtectionDomain> pd;
  std::vector<Use<QueuePair>> queues;
  std::unique_ptr<engine::ReceiveSpreading> spreading;
};

// Flows count here.
struct FlowCounters : Usable {
  Share share;
  engine::RuleCounters values;  // the engine's to change
};

// Leads to one of the two.
struct Flow {
  Share share;
  Use<QueuePair> qp;
  Use<RssQueuePair> rss_qp;
  Use<FlowCounters> counters;  // or none
  std::uint32_t number = 0;    // of its rule, in the device's table
};

}  // namespace urnic::control
