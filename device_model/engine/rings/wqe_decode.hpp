// What a send WQE's head says, checked. Nothing here reads shared memory: the head was copied out before.
#pragma once

#include <cstdint>

#include "device_model/abi/queues.hpp"
#include "device_model/transport/work_request.hpp"

namespace urnic::engine {

// True if opcode, flags and counts make sense and what is behind the head fits into `room` bytes.
bool well_formed(const abi::SendWqe& head, std::uint32_t room);

// Everything but index, sges, inline data and length.
void decode_head(const abi::SendWqe& head, transport::SendRequest& request);

}  // namespace urnic::engine
