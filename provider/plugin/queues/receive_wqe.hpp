// Writes receive WQEs (abi::ReceiveWqe) of QPs and SRQs.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "device_model/abi/queues.hpp"

namespace urnic::provider {

// Writes `request` into `slot`, which has room for its segments. Leaves out empty segments.
inline void write_receive_wqe(void* slot, const ibv_recv_wr& request) {
  auto* wqe = static_cast<abi::ReceiveWqe*>(slot);
  auto* segments = reinterpret_cast<abi::ScatterGather*>(wqe + 1);
  std::uint32_t count = 0;
  for (int i = 0; i < request.num_sge; ++i) {
    const ibv_sge& segment = request.sg_list[i];
    if (segment.length != 0) segments[count++] = {segment.addr, segment.length, segment.lkey};
  }
  *wqe = abi::ReceiveWqe{count, {}};
}

}  // namespace urnic::provider
