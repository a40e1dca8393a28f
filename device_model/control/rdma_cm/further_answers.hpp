// Answers that go with an event (abi/rdma_cm_messages.hpp).
#pragma once

#include <cstddef>
#include <span>

#include "device_model/control/rdma_cm/dispatch.hpp"

namespace urnic::control::rdma_cm {

bool is_get_event(std::span<const std::byte> command);
// Adds to the answer, which is the event, what librdmacm asks next.
void add_further_answers(Session& session, const rdma_ucm_event_resp& event, Answer& answer);

}  // namespace urnic::control::rdma_cm
