// Answers that go with an event (abi/rdma_cm_messages.hpp).
#pragma once

#include <cstddef>
#include <span>

#include "device_model/control/rdma_cm/dispatch.hpp"

namespace urnic::control::rdma_cm {

// After `command` has been run in the session: where it has taken an event, adds what librdmacm asks next to
// its answer.
void add_further_answers(Session& session, std::span<const std::byte> command, Answer& answer);

}  // namespace urnic::control::rdma_cm
