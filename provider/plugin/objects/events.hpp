// Completion and asynchronous events: arming, and counting events that were read and acknowledged. An object
// must not be destroyed before its events are settled, because the library turns an event's number into a
// pointer.
#pragma once

#include <cstdint>

#include "device_model/abi/control.hpp"
#include "device_model/abi/queues.hpp"
#include "provider/plugin/objects/cq.hpp"
#include "provider/plugin/objects/qp.hpp"
#include "provider/plugin/objects/srq.hpp"

namespace urnic::provider {

// The arm word of request number `request` (docs/queues-and-doorbells.md). A pending request for any
// completion stays one, even if this request is for solicited completions only. `armed` and `fired` are the
// present words.
std::uint32_t next_arm_word(std::uint32_t request, bool solicited_only, std::uint32_t armed,
                            std::uint32_t fired);

// Writes the CQ's handle into its completion channel, in place of a dead device.
void post_completion_event(Cq& cq);

// Waits until the program has acknowledged every event of the object that it has read (ibv_ack_cq_events,
// ibv_ack_async_event). `reported` holds the device's counts. It is null if the device is dead: then this
// function removes unread events from the pipes, and the provider's own counts of read events apply.
void settle_events(Cq& cq, const abi::DestroyReply* reported);
void settle_events(Qp& qp, const abi::DestroyReply* reported);
void settle_events(Srq& srq, const abi::DestroyReply* reported);

}  // namespace urnic::provider
