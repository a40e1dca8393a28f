// The segments of a send WQE (abi/mlx5/send_wqe.hpp) into a request. Nothing here reads shared memory: the
// WQE was copied before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "device_model/abi/mlx5/send_wqe.hpp"
#include "device_model/transport/queue_pair_config.hpp"
#include "device_model/transport/work_request.hpp"

namespace urnic::engine::mlx5 {

// Fills in all of `request` that its opcode uses, but the index. `wqe` is aligned to 16 bytes and begins with
// the control segment; `block` is the number that its first block has in the ring. The data segments become
// the request's where they lie, and inline data is moved together; so the request refers to `wqe`, which must
// not be decoded again. A WQE that makes no sense, or asks for what the device does not do, is malformed.
void decode_send(std::span<std::byte> wqe, std::uint16_t block, transport::QpService service,
                 transport::SendRequest& request);

// The part of that which needs the control segment alone.
void decode_control(const abi::mlx5::ControlSegment& control, transport::SendRequest& request);

}  // namespace urnic::engine::mlx5
