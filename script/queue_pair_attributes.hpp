// Which attributes a change of a queue pair's state sets, as ibv_modify_qp takes them: the same for a device
// under virtual time and for an agent.
#pragma once

#include <cstdint>

namespace urnic::script {

// `type`, `current` and `next` are values of ibv_qp_type and ibv_qp_state, the result is of ibv_qp_attr_mask.
// `notify`: of SQD, that the program wants to hear when the queue is drained.
std::uint32_t attribute_mask(std::uint64_t type, std::uint64_t current, std::uint64_t next, bool notify);

// The value of ibv_mtu for a path MTU in bytes; 0: there is none.
std::uint32_t mtu_code(std::uint64_t bytes);

}  // namespace urnic::script
