// Completion and asynchronous events: arming, and the account of what was read and acknowledged, without
// which an object must not be destroyed (the library turns an event's number back into a pointer).
#pragma once

#include <cstdint>

#include "device_model/abi/control.hpp"
#include "device_model/abi/queues.hpp"
#include "provider/plugin/objects/cq.hpp"
#include "provider/plugin/objects/qp.hpp"
#include "provider/plugin/objects/srq.hpp"

namespace urnic::provider {

// The arm word of request number `request` (docs/queues-and-doorbells.md). A request for every completion
// that still stands is not weakened by one for solicited ones.
std::uint32_t next_arm_word(std::uint32_t request, bool solicited_only, std::uint32_t armed,
                            std::uint32_t fired);

// Writes the CQ's handle into its channel, as the device does while it lives.
void post_completion_event(Cq& cq);

// Waits until the program has acknowledged every event of the object that it has read (ibv_ack_cq_events,
// ibv_ack_async_event). `reported` is what the device counted; null when it is dead: then unread events are
// taken out of the pipes here, and what the program read counts.
void settle_events(Cq& cq, const abi::DestroyReply* reported);
void settle_events(Qp& qp, const abi::DestroyReply* reported);
void settle_events(Srq& srq, const abi::DestroyReply* reported);

}  // namespace urnic::provider
