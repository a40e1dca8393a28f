// Writes send WQEs (abi::SendWqe): the parts that ibv_post_send and the ibv_wr_* builders share.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <cstring>

#include "device_model/abi/queues.hpp"
#include "provider/plugin/objects/ah.hpp"

namespace urnic::provider {

inline constexpr unsigned int kSendFlags = abi::send_fence | abi::send_signaled | abi::send_solicited;

// Clears the WQE in `slot` and writes the fields that every request has. Ignores IBV_SEND_INLINE in `flags`
// (ibv_send_flags): the code that writes inline data sets it.
inline abi::SendWqe& begin_wqe(void* slot, ibv_wr_opcode opcode, unsigned int flags) {
  auto& wqe = *static_cast<abi::SendWqe*>(slot);
  wqe = abi::SendWqe{};
  wqe.opcode = static_cast<std::uint8_t>(opcode);
  wqe.flags = static_cast<std::uint8_t>(flags & kSendFlags);
  return wqe;
}

// Whether a request with this opcode may carry inline data: it must send data of the program
// (ibv_post_send(3)).
inline bool may_be_inline(std::uint8_t opcode) {
  switch (static_cast<abi::SendOpcode>(opcode)) {
    case abi::SendOpcode::rdma_write:
    case abi::SendOpcode::rdma_write_with_immediate:
    case abi::SendOpcode::send:
    case abi::SendOpcode::send_with_immediate:
    case abi::SendOpcode::send_with_invalidate:
      return true;
    default:
      return false;
  }
}

// Appends one segment, unless it is empty: the device would check the L_Key of an empty one too.
inline void add_segment(abi::SendWqe& wqe, const ibv_sge& segment) {
  if (segment.length == 0) return;
  auto* segments = reinterpret_cast<abi::ScatterGather*>(&wqe + 1);
  segments[wqe.sge_count++] = {segment.addr, segment.length, segment.lkey};
}

// Appends `length` bytes of inline data. False, with nothing written, if the WQE would have more than
// `limit`.
inline bool add_inline_data(abi::SendWqe& wqe, const void* data, std::size_t length, std::uint32_t limit) {
  if (length > limit - wqe.inline_length) return false;
  std::memcpy(reinterpret_cast<char*>(&wqe + 1) + wqe.inline_length, data, length);
  wqe.inline_length += static_cast<std::uint32_t>(length);
  return true;
}

// Sets a datagram's destination.
inline void set_destination(abi::SendWqe& wqe, const ibv_ah* ah, std::uint32_t qpn, std::uint32_t qkey) {
  wqe.address_handle = ah_of(ah).number;
  wqe.remote_qpn = qpn;
  wqe.remote_qkey = qkey;
}

// Sets the peer's SRQ that an XRC request goes to. The SRQ also decides the peer's protection domain.
inline void set_remote_srq(abi::SendWqe& wqe, std::uint32_t number) { wqe.remote_srq = number; }

// Sets the window's range, rights and keys (device_model/abi/queues.hpp: bind_memory_window). A window gives
// rights to peers only, so IBV_ACCESS_LOCAL_WRITE, which programs often pass too, is removed.
inline void set_bind(abi::SendWqe& wqe, const ibv_mw& window, std::uint32_t new_rkey,
                     const ibv_mw_bind_info& info) {
  wqe.rkey = window.rkey;
  wqe.immediate_or_rkey = new_rkey;
  wqe.remote_address = info.addr;
  wqe.compare_add = info.length;
  wqe.swap = info.mw_access_flags & ~static_cast<unsigned int>(IBV_ACCESS_LOCAL_WRITE);
  wqe.bind_lkey = info.mr != nullptr ? info.mr->lkey : 0;
}

}  // namespace urnic::provider
