// Bodies of the control protocol (control.hpp) about null regions, advice, device memory and dma-bufs, and
// about sharing memory with other processes.
#pragma once

#include <cstdint>

#include "device_model/abi/control.hpp"

namespace urnic::abi {

// allocate_null_mr takes the PD's handle and answers with RegisterMrReply; only the lkey has a use.

// One range of ibv_advise_mr; `advice` as ibv_advise_mr_advice.
struct AdviseMrRequest {
  std::uint64_t address;  // in the region's iova space
  std::uint64_t length;
  std::uint32_t pd;
  std::uint32_t lkey;
  std::uint32_t advice;
  std::uint32_t reserved;
};
// Where the range lies in the process that registered it.
struct AdviseMrReply {
  std::uint64_t address;
  std::uint32_t is_senders;  // 1: that process is the sender; else 0
  std::uint32_t reserved;
};

// Device memory. Its arenas are numbered among those of the context.
struct AllocateDmRequest {
  std::uint64_t length;
  std::uint32_t log_alignment;  // alignment of the first byte's address in the device: 2^this
  std::uint32_t reserved;
};
struct DmReply {
  ArenaRange memory;  // at least `length` bytes
  std::uint64_t length;
  std::uint32_t handle;
  std::uint32_t reserved;
};
// Replies with RegisterMrReply.
struct RegisterDmMrRequest {
  std::uint64_t offset;  // from the beginning of the device memory
  std::uint64_t length;
  std::uint32_t pd;
  std::uint32_t dm;
  std::uint32_t access;
  std::uint32_t reserved;
};

// Descriptor sent: the dma-buf. Replies with RegisterMrReply.
struct RegisterDmaBufMrRequest {
  std::uint64_t offset;  // in the buffer
  std::uint64_t length;
  std::uint64_t iova;
  std::uint32_t pd;
  std::uint32_t access;
};

// Importing a device (ibv_import_device(3)). Any process that has a connection's descriptor may send
// tell_token on it, with a socket as descriptor; the device sends the ContextToken to that socket. The
// message has no reply, so that no process takes another's. With the token the process opens a context of its
// own, on a connection of its own, that shares the other context's protection domains, regions, windows and
// device memory. Descriptors and reply as of open_context.
struct OpenSharedContextRequest {
  OpenContextRequest open;
  ContextToken token;
};
// async_channel, for a context opened by open_shared_context only: replies with Empty and the read end of the
// asynchronous events' pipe.

// import_pd takes the handle of a shared protection domain and replies with the same handle. import_mr takes
// the handle of a region.
struct ImportMrReply {
  std::uint64_t length;
  std::uint32_t lkey;
  std::uint32_t rkey;
};

}  // namespace urnic::abi
