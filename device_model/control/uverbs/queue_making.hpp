// Makes CQs, SRQs and QPs. What they have to do with each other is the same for every face of a device; where
// their queues lie, and how a doorbell reaches the engine, the caller says.
#pragma once

#include <cstdint>
#include <functional>

#include "device_model/abi/control.hpp"
#include "device_model/control/objects/queue_objects.hpp"
#include "device_model/control/uverbs/session.hpp"

namespace urnic::engine {
struct CompletionQueueConfig;
struct SharedReceiveQueueConfig;
}  // namespace urnic::engine

namespace urnic::control {

// Gives the object its queues and its doorbell, and names the queues in the configuration. Returns 0, an
// errno, or kNotYet: then it is called again with a new object.
using PlaceCq = std::function<int(CompletionQueue&, engine::CompletionQueueConfig&)>;
using PlaceSrq = std::function<int(SharedReceiveQueue&, engine::SharedReceiveQueueConfig&)>;
using PlaceQp = std::function<int(QueuePair&, engine::QueuePairConfig&)>;

// All return 0, an errno, or kNotYet. `handle` is the object's in the context.
int make_cq(Session& session, const abi::CreateCqRequest& request, const PlaceCq& place,
            std::uint32_t& handle);
// `srq` has its XRC domain and CQ already, if any.
int make_srq(Session& session, const abi::CreateSrqRequest& request, std::unique_ptr<SharedReceiveQueue> srq,
             const PlaceSrq& place, std::uint32_t& handle);
// An XRC target has no queues: `place` is not called.
int make_qp(Session& session, const abi::CreateQpRequest& request, const PlaceQp& place,
            std::uint32_t& handle);

}  // namespace urnic::control
