#include "device_model/engine/rings/wqe_decode.hpp"

#include <cstring>

#include "device_model/transport/segmentation.hpp"

namespace urnic::engine {

namespace {

constexpr std::uint8_t kKnownFlags =
    abi::send_fence | abi::send_signaled | abi::send_solicited | abi::send_inline;

constexpr std::uint32_t kQpnMask = 0xFFFFFF;  // and of SRQ numbers

// Inline data is for operations that carry data to the peer (ibv_post_send: Send and RDMA Write).
bool takes_inline(abi::SendOpcode opcode) {
  switch (opcode) {
    case abi::SendOpcode::rdma_write:
    case abi::SendOpcode::rdma_write_with_immediate:
    case abi::SendOpcode::send:
    case abi::SendOpcode::send_with_immediate:
    case abi::SendOpcode::send_with_invalidate:
    case abi::SendOpcode::atomic_write:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool well_formed(const abi::SendWqe& head, std::uint32_t room) {
  if (!transport::known(static_cast<transport::WorkOpcode>(head.opcode))) return false;
  if ((head.flags & ~kKnownFlags) != 0) return false;
  if ((head.flags & abi::send_inline) != 0) {
    return takes_inline(static_cast<abi::SendOpcode>(head.opcode)) && head.inline_length <= room;
  }
  return head.sge_count * sizeof(abi::ScatterGather) <= room;
}

void decode_head(const abi::SendWqe& head, transport::SendRequest& request) {
  request.opcode = static_cast<transport::WorkOpcode>(head.opcode);
  request.fence = (head.flags & abi::send_fence) != 0;
  request.signaled = (head.flags & abi::send_signaled) != 0;
  request.solicited = (head.flags & abi::send_solicited) != 0;
  request.is_inline = (head.flags & abi::send_inline) != 0;
  std::memcpy(request.immediate.bytes.data(), &head.immediate_or_rkey, sizeof head.immediate_or_rkey);
  request.invalidate = wire::Rkey{head.immediate_or_rkey};
  request.remote_address = head.remote_address;
  request.rkey = wire::Rkey{head.rkey};
  request.compare_add = head.compare_add;
  request.swap = head.swap;
  request.address_handle = head.address_handle;
  request.remote_qpn = wire::Qpn{head.remote_qpn & kQpnMask};
  request.remote_qkey = head.remote_qkey;
  request.remote_srq = head.remote_srq & kQpnMask;
  if (request.opcode == transport::WorkOpcode::bind_memory_window) {
    request.binding = {.current = wire::Rkey{head.rkey},
                       .next = wire::Rkey{head.immediate_or_rkey},
                       .region = transport::Lkey{head.bind_lkey},
                       .address = head.remote_address,
                       .length = head.compare_add,
                       .access = static_cast<std::uint32_t>(head.swap)};
  }
}

}  // namespace urnic::engine
