// The data segments of a receive WQE (abi/mlx5/receive_wqe.hpp).
#pragma once

#include <cstddef>
#include <span>

#include "device_model/transport/work_request.hpp"

namespace urnic::engine::mlx5 {

// `list` is a private copy, aligned to 16 bytes, of all that may be segments. They become the request's where
// they lie, so it must not be decoded again.
void decode_scatter_list(std::span<std::byte> list, transport::ReceiveRequest& request);

}  // namespace urnic::engine::mlx5
