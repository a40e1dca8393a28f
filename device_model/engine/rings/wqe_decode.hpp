// Decodes and checks a send WQE's head. Nothing here reads shared memory: the head was copied before.
#pragma once

#include <cstdint>

#include "device_model/abi/queues.hpp"
#include "device_model/transport/work_request.hpp"

namespace urnic::engine {

// True if opcode, flags and counts are valid and the rest of the WQE fits into `room` bytes.
bool well_formed(const abi::SendWqe& head, std::uint32_t room);

// Fills in all but index, sges, inline data and length.
void decode_head(const abi::SendWqe& head, transport::SendRequest& request);

}  // namespace urnic::engine
