// WQEs that change a memory key (UMR). The device does what libmlx5 asks for memory windows: a bind becomes a
// binding, and a window of type 2 that is unbound becomes an invalidation. Any other change is malformed.
#pragma once

#include "device_model/engine/mlx5_rings/segment_reader.hpp"
#include "device_model/transport/work_request.hpp"

namespace urnic::engine::mlx5 {

// `reader` is behind the control segment, whose R_Key is `key`. False: malformed.
bool decode_key_change(SegmentReader reader, wire::Rkey key, transport::SendRequest& request);

}  // namespace urnic::engine::mlx5
